#pragma once

#include <string>

#include "base/time.h"
#include "json/value.h"
#include "node/agent/options.h"
#include "node/pod/facts.h"

namespace muster::node {

// The status of a pod whose processes live, but of which nothing can be said: its reason.
inline constexpr const char* kUnknownReason = "SandboxUnknown";

struct StatusInput {
  const json::Value& pod;  // as the API has it; what is not ours in its status is kept
  const PodFacts& facts;
  const NodeOptions& options;
  Time now{};
};

// The pod's status that follows from the record. Never takes back what the API has: a final phase
// stays, restart counts do not fall, transition times move only with their conditions.
json::Value pod_status(const StatusInput& input);

}  // namespace muster::node
