#include "node/network/peer.h"

#include <algorithm>

#include "api/pod.h"

namespace muster::node {

Reach reach_of(const json::Value& status) {
  const bool ready = std::ranges::any_of(status["conditions"].as_array(), [](const auto& one) {
    return one["type"].as_string() == "Ready" && one["status"].as_string() == "True";
  });
  const auto& phase = status["phase"].as_string();
  return {.address = status["podIP"].as_string(),
          .finished = phase == to_string(api::PodPhase::Succeeded) ||
                      phase == to_string(api::PodPhase::Failed),
          .ready = ready};
}

}  // namespace muster::node
