#pragma once

#include <string>

#include "base/time.h"
#include "json/value.h"
#include "node/agent/options.h"
#include "node/pod/pod_state.h"

namespace muster::node {

struct StatusInput {
  const json::Value& pod;  // as the API has it; what is not ours in its status is kept
  const PodRecord& record;
  const NodeOptions& options;
  Time now{};
};

// The pod's status that follows from the record. Never takes back what the API has: a final phase
// stays, restart counts do not fall, transition times move only with their conditions.
json::Value pod_status(const StatusInput& input);

}  // namespace muster::node
