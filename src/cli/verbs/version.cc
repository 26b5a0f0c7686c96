#include <fmt/format.h>

#include "base/version.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {

int version(const std::string& output) {
  if (output == "json") {
    fmt::print("{{\"clientVersion\":{{\"gitVersion\":\"v{}\"}}}}\n", kVersion);
  } else {
    fmt::print("muster {}\n", kVersion);
  }
  return exit_code::kOk;
}

}  // namespace muster::cli
