#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "agent/paddle_legacy/options.h"
#include "agent/paddle_legacy/roster.h"
#include "agent/paddle_legacy/settings.h"

namespace muster::agent::paddle_legacy {

// What is started in every pod, word by word.
std::vector<std::string> pserver_command(const Settings& settings);
std::vector<std::string> trainer_command(const Settings& settings, const Roster& roster, int id,
                                         const TrainOptions& options);

// Where the PServers of all pods listen, dense and sparse.
std::vector<std::pair<std::string, std::uint16_t>> pserver_endpoints(const Settings& settings,
                                                                     const Roster& roster);

}  // namespace muster::agent::paddle_legacy
