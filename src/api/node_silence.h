#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "json/value.h"

// What a pod shows of a node that nobody hears of. Nodes themselves are not read: an operator needs
// no right to.
namespace muster::api {

struct NodeSilence {
  std::string node;
  Time since{};  // by then it should have answered
  Time known{};  // from then on it counts as silent; may be still to come

  friend bool operator==(const NodeSilence&, const NodeSilence&) = default;
};

// Nothing of a pod that has no node, or whose node did all that was asked of it.
std::optional<NodeSilence> node_silence(const json::Value& pod);

}  // namespace muster::api
