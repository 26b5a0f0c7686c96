#include "cli/context.h"

#include <fmt/format.h>

namespace muster::cli {

std::string Context::command(std::string_view words) const {
  return fmt::format("muster{} {}", where, words);
}

}  // namespace muster::cli
