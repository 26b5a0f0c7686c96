#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/node_silence.h"
#include "api/pod.h"
#include "base/error.h"
#include "base/time.h"
#include "json/value.h"
#include "plan/ledger.h"

namespace muster::engine {

// What the engine needs to know of a container.
struct ContainerView {
  std::string name;
  bool init = false;
  std::int64_t restarts = 0;
  bool running = false;
  std::optional<int> exit_code;       // of the current state, when terminated
  std::optional<int> last_exit_code;  // of the life before the current one
  std::string reason;                 // of the terminated or waiting state
  std::string message;
};

// No node has room for a pod.
struct Unplaced {
  std::string message;  // whose room is too small for what
  std::optional<Time> since;
};

// What the engine reads of a pod; caches keep only this.
struct PodView {
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string role;
  int index = -1;
  std::int64_t attempt = 0;
  std::int64_t epoch = 0;
  api::PodPhase phase = api::PodPhase::Pending;
  bool deleting = false;
  bool ready = false;
  bool disruption_target = false;  // the cluster said that it takes the pod away
  bool refused = false;  // its node cannot obey the manifest: no other pod of it would run
  std::string ip;
  std::string reason;  // status.reason: Evicted, …; else why it is a disruption target
  std::string message;
  std::optional<Time> finished_at;
  std::optional<api::NodeSilence> silence;  // of its node, or the time from when on it would be
  std::optional<Unplaced> unplaced;
  std::vector<ContainerView> containers;  // init containers too

  static PodView from(const json::Value& pod);
  [[nodiscard]] std::int64_t restarts() const;
  [[nodiscard]] const ContainerView* container(std::string_view container_name) const;
  // Of a pod that is gone: whether the cluster took it away. Makes it one that is on its way out.
  static bool has_last_words(PodView& gone);
  // Lets go of what only a job that has not ended is decided on: a termination message alone may
  // have 4 KB.
  void forget_details();
};

// What the engine reads of a Service, ConfigMap and so on.
struct ObjectView {
  api::Resource resource;
  std::string name;
  std::string uid;
  bool deleting = false;
  std::string cluster_ip;  // of a Service
  std::string content;     // what we wrote into it, as a hash; of one that is replaced
  std::optional<Time> made_at;

  static ObjectView from(const api::Resource& resource, const json::Value& object);
};

// How the server refused something in the last wave. Only what has to be decided on: conflicts that
// heal by looking again are the controller's business.
struct Refusal {
  std::string kind;  // Pod, Service, …
  std::string name;
  std::string role;  // of a pod
  int index = -1;
  Error error;
  bool foreign = false;      // AlreadyExists, and not ours
  bool terminating = false;  // and it is on its way out
};

// Everything the decision rests on: owned children only, matched by controller uid.
struct Observed {
  plan::Ledger ledger;
  std::optional<Time> first_look;  // when this process saw the job first
  bool deleting = false;           // the job itself
  std::vector<PodView> pods;
  std::vector<ObjectView> objects;
  std::set<std::string> secrets;  // names of those that were made or found to be there
  std::vector<Refusal> refusals;
};

}  // namespace muster::engine
