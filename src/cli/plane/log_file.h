#pragma once

#include <memory>
#include <string>

#include "base/log.h"

namespace muster::cli {

// A log that lines of diagnostics go to, whole lines, and that never grows beyond a limit: what is
// older moves to PATH.old, and what is older than that goes. The process's standard error follows,
// for what is said at its last moment. A log that cannot be written is not worth failing for.
Logger log_to_file(const std::string& path, Severity least,
                   std::size_t most_bytes = std::size_t{1} << 20U);

}  // namespace muster::cli
