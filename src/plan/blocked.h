#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/time.h"
#include "json/value.h"
#include "plan/index_set.h"
#include "plan/plan.h"

namespace muster::plan {

// A node that does not answer and holds pods of a job. Nobody knows whether they still run, so none
// of their ranks is made anew: two of a rank must never live at once.
struct BlockedNode {
  Time since{};
  std::map<std::string, IndexSet> ranks;  // by role: those that wait there

  [[nodiscard]] std::string ranks_text() const;  // "Worker 0-3, Scheduler 0"
  friend bool operator==(const BlockedNode&, const BlockedNode&) = default;
};

using BlockedNodes = std::map<std::string, BlockedNode>;  // by name

// A status names no more of them. A node holds some 250 pods at most, so 16 of them are no more
// than 4,000 ranks of about six characters: 24 KB.
inline constexpr std::size_t kMostBlockedNodes = 16;

json::Value blocked_to_json(const BlockedNodes& nodes);
// Total: what cannot be read is left out.
BlockedNodes blocked_from_json(const json::Value& value);

// What a person can do about it.
std::string blocked_remedy(const std::string& ns, const std::string& job_uid,
                           const std::string& node);

}  // namespace muster::plan
