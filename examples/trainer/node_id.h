#pragma once

#include <string_view>

namespace muster::trainer {

// Whether text can be a node id: a pod name, or what a user put in MS_NODE_ID. It becomes part of
// file names and of protocol lines, so only letters, digits, '-', '_' and '.' are allowed, 253 of
// them at most, not beginning with '.'.
[[nodiscard]] bool is_node_id(std::string_view text);

// The order that gives workers their ranks: by name, but numbers at the end count as numbers, so
// that job-worker-10 follows job-worker-9 and rank 10 is the pod that its name says.
[[nodiscard]] bool comes_before(std::string_view left, std::string_view right);

}  // namespace muster::trainer
