#pragma once

#include <string>

namespace muster::node {

// The end of a container's log as its termination message: FallbackToLogsOnError, at most 2 KiB and
// 80 lines, as the kubelet. Empty when there is no log.
std::string log_tail(const std::string& path);

}  // namespace muster::node
