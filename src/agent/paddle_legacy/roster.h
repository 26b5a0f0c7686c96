#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/paddle_legacy/settings.h"
#include "base/error.h"
#include "json/value.h"

namespace muster::agent::paddle_legacy {

// The addresses of the pods that train; the position of one is its trainer id.
using Roster = std::vector<std::string>;

// The pods of the answer that run: not those that ended, have not begun, or are being deleted. In
// the order of their addresses as text, so 10.0.0.10 comes before 10.0.0.2.
Roster running_pods(const json::Value& pod_list);

// Nothing while fewer run than train; an error when more do, or when two have one address.
Result<std::optional<Roster>> complete_roster(Roster running, const Settings& settings);

// The place of the first of our own addresses that is on the roster.
Result<int> trainer_id(const Roster& roster, std::span<const std::string> own_addresses);

}  // namespace muster::agent::paddle_legacy
