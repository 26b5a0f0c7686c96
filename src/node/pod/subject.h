#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/resource.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "node/agent/events.h"
#include "node/agent/gpus.h"
#include "node/agent/options.h"
#include "node/agent/reference_store.h"
#include "node/pod/facts.h"
#include "node/pod/starts_first.h"
#include "node/pod/step.h"
#include "node/runtime/runtime.h"
#include "node/volumes/disk_work.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/wait.h"

namespace muster::node {

using ServiceRules = std::shared_ptr<const std::vector<ServiceRule>>;

// What the node does for its pods and hears from them. Outlives all workers.
class PodHost {
 public:
  virtual ~PodHost() = default;
  [[nodiscard]] virtual std::vector<api::ObjectPtr> services() const = 0;
  [[nodiscard]] virtual ServiceRules service_rules() const = 0;
  // The hosts file of the namespace; exists from now on.
  virtual Result<std::string> hosts_file(const std::string& ns) = 0;
  // The names of all pods that have an address by now are in the hosts files when it returns.
  virtual Task<Result<void>> publish_names() = 0;
  // A write of the worker's was answered with this.
  virtual void wrote(const api::ObjectPtr& pod) = 0;
  // The worker's view() changed: addresses, readiness.
  virtual void pod_changed() = 0;
  // A container of it failed: perhaps because the pod took more of the disk than it may.
  virtual Task<void> look_at_disk(api::ObjectPtr pod) = 0;
  // GPUs became free.
  virtual void gpus_released() = 0;
  // The worker has nothing left to do.
  virtual void pod_done(const std::string& uid) = 0;
  // The worker rests(): it is needed when the pod is deleted, and not before.
  virtual void pod_rests(const std::string& uid) = 0;
};

// What every pod of a node shares. Outlives all workers.
struct NodeServices {
  rt::Loop& loop;
  cluster::Cluster& cluster;
  Runtime& runtime;
  const NodeOptions& options;
  EventRecorder& events;
  ReferenceStore& references;
  GpuAllocator& gpus;
  PodHost& host;
  DiskWork& disk;
  Logger log;
  StartsFirst starts{loop, most_ended(options)};
};

// One pod as the parts of its worker share it. Lives in the worker, on the agent's loop, and
// outlives the parts. Their tasks run in `scope`, which the worker closes before any of them goes.
struct PodSubject {
  PodSubject(NodeServices& services, api::ObjectPtr newest, std::function<void(PodEvent)> listener);

  NodeServices& node;
  std::string uid;
  api::ObjectKey key;
  api::ObjectPtr pod;  // as the API last had it
  PodFacts facts;
  // Brings the worker to look again, after the facts were brought up to date.
  std::function<void(PodEvent)> tell;
  rt::Event changed;  // pulses with every tell()
  rt::TaskScope scope;

  [[nodiscard]] Time now() const { return node.loop.now(); }
  [[nodiscard]] const json::Value& spec_of(const std::string& container) const;
  void event(EventSeverity severity, std::string reason, std::string message,
             std::string container = "") const;
  // The API no longer has it: whatever runs is ended at once.
  void forget();
};

}  // namespace muster::node
