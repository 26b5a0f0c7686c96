#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/quantity.h"
#include "api/resource.h"
#include "base/time.h"
#include "json/value.h"

namespace muster::scheduler {

using Amounts = std::map<std::string, api::Quantity>;

struct NodeView {
  std::string name;
  bool usable = false;  // ready and not cordoned
  std::map<std::string, std::string> labels;
  Amounts allocatable;

  static NodeView from(const json::Value& node);
};

struct PodView {
  api::ObjectKey key;
  std::string uid;
  std::string node;   // empty: not placed yet
  bool over = false;  // finished: needs nothing any more
  std::string gang;   // empty: alone
  int gang_size = 1;
  std::string queue;  // empty: none
  std::int64_t priority = 0;
  Time created{};
  Amounts requests;                  // "pods": 1 among them
  std::set<std::string> host_ports;  // TCP/8080: one pod of a node at a time
  std::map<std::string, std::string> node_selector;
  json::Value node_affinity;     // what it requires
  std::set<std::string> claims;  // in its namespace

  static PodView from(const json::Value& pod);
};

struct ClaimView {
  api::ObjectKey key;
  bool bound = false;
  bool deleting = false;

  static ClaimView from(const json::Value& claim);
};

struct Binding {
  api::ObjectKey key;
  std::string uid;
  std::string node;
};

struct Refused {
  enum class Why {
    Room,   // others have it
    Never,  // it would not fit on an empty machine either
    Gang,   // its peers do not exist yet
    Queue,  // others come first
    Claim,  // one of its claims is not bound
  };
  api::ObjectKey key;
  std::string uid;
  std::string message;  // as kube-scheduler words it: 0/1 nodes are available: …
  Why why = Why::Room;
};

struct Placement {
  std::vector<Binding> bindings;
  std::vector<Refused> refused;
};

// Where every unplaced pod goes. Groups by priority, then age; a group is placed whole (at least
// its size, counting members that run already) or not at all, and one that does not fit keeps
// nothing from those behind it, unless they wait in the same queue. A group with a pod whose claims
// are not all bound waits.
Placement place(const std::vector<NodeView>& nodes, const std::vector<PodView>& pods,
                const std::vector<ClaimView>& claims = {});

}  // namespace muster::scheduler
