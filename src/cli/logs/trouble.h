#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/logs/log_sink.h"

// Words about logs that cannot be read.
namespace muster::cli {

// Worker 3, or the pod's own name.
std::string name_of(const LogOrigin& origin);
// Why, without the names in it that differ from rank to rank: the same for all of the same cause.
std::string reason_of(const Error& error, const LogOrigin& origin);
// "error: …" with the reason, whose logs they are, and what would help where that is known.
std::string sentence_about(const std::string& reason, const Error& error,
                           const std::vector<std::string>& whose, bool on_a_cluster);

}  // namespace muster::cli
