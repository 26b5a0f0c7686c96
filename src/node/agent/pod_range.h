#pragma once

#include <string>

#include "json/value.h"
#include "node/agent/registration.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace muster::node {

// The range of pod addresses that the cluster gave a Node, the first of IPv4; empty: none.
std::string pod_range_of(const json::Value& node);

// The same of the node that is being registered, as long as it takes its cluster to give it one: a
// controller manager that does so needs a moment. Empty: it seems that nobody does.
Task<Result<std::string>> wait_for_pod_range(rt::Loop& loop, Registration& registration);

}  // namespace muster::node
