#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/pod.h"
#include "base/time.h"
#include "node/agent/options.h"
#include "node/pod/facts.h"

namespace muster::node {

// Whose turn it is among a pod's containers.
struct Turns {
  std::vector<std::string> start;      // may run now
  std::vector<std::string> stop;       // sidecars that nobody needs any more
  std::optional<api::PodPhase> final;  // nothing runs and nothing will
  std::optional<Time> wake_at;         // look again then
};
Turns turns_of(const PodFacts& facts, const BackOffOptions& options, Time now);

}  // namespace muster::node
