#include "cli/plane/full_disk.h"

#include <fmt/format.h>

namespace muster::cli {

Error naming_full_disk(const Context& context, Error error) {
  if (error.code != ErrorCode::InsufficientStorage) return error;
  const std::string known = fmt::format("the disk of {} is full", context.home);
  if (!error.message.contains(known))
    error.message =
        fmt::format("{}: make room there, or use another --home ({})", known, error.message);
  return error;
}

}  // namespace muster::cli
