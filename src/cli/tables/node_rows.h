#pragma once

#include <map>
#include <string>

#include "api/quantity.h"
#include "cli/tables/layout.h"

namespace muster::cli {

// Name, state, and of every resource what pods ask for of what there is.
Layout node_layout(const Objects& nodes, Width width);

// Ready, NotReady or Unknown, and SchedulingDisabled.
std::string node_state(const json::Value& node);

using Amounts = std::map<std::string, api::Quantity>;
// What the pods of a node ask for, together; their number is "pods".
Amounts requested_by(const Objects& pods);
Amounts amounts_in(const json::Value& resources);

// An amount as people read it: 1.5 of cpu, 2.5Gi of memory.
std::string shown_amount(const std::string& resource, api::Quantity amount);

// Whether a pod takes room on a node.
bool takes_room(const json::Value& pod);

}  // namespace muster::cli
