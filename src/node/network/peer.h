#pragma once

#include <string>

#include "api/resource.h"
#include "json/value.h"

namespace muster::node {

// Where a pod is, and whether it serves: what the other pods of a node need of its status.
struct Reach {
  std::string address;
  bool finished = false;
  bool ready = false;

  friend bool operator==(const Reach&, const Reach&) = default;
};
Reach reach_of(const json::Value& status);

// A pod as the other pods of its node see it. The reach is what the node knows; the API may not
// have it yet, and the pod's own status is not looked at.
struct Peer {
  api::ObjectPtr pod;
  Reach reach;
};

}  // namespace muster::node
