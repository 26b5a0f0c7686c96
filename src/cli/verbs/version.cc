#include <fmt/format.h>

#include "base/version.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {

int version(Output& output, const std::string& format) {
  if (format == "json") {
    output.print("{{\"clientVersion\":{{\"gitVersion\":\"v{}\"}}}}\n", kVersion);
  } else {
    output.print("muster {}\n", kVersion);
  }
  return exit_code::kOk;
}

}  // namespace muster::cli
