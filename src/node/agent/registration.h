#pragma once

#include "base/log.h"
#include "cluster/cluster.h"
#include "node/agent/options.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::node {

// The Node object as this agent would have it: metadata and spec, and the status with it.
json::Value node_object(const NodeOptions& options);
// What of a Node's status is ours; conditions keep their transition times from `before`.
json::Value node_status(const NodeOptions& options, const json::Value& before, Time now,
                        bool disk_pressure = false);

// Keeps the Node and its Lease in the API, so that the scheduler sends pods and nobody takes us for
// dead: the Lease every ten seconds, the status every five minutes. Lives on the agent's loop.
class Registration {
 public:
  Registration(rt::Loop& loop, cluster::Cluster& cluster, const NodeOptions& options, Logger log)
      : loop_(loop),
        cluster_(cluster),
        options_(options),
        log_(std::move(log)),
        news_(loop),
        scope_(loop) {}

  // Creates or brings up to date; the heartbeats begin when it has succeeded.
  Task<Result<void>> register_node();
  void start();
  // Said at once, and with every status.
  void set_disk_pressure(bool pressure);
  Task<void> close() { return scope_.close(); }

  // The Node as it is in the API, made if it is missing. Nothing says yet that it is ready.
  Task<Result<api::ObjectPtr>> ensure_node();

 private:
  Task<Result<void>> write_status();
  Task<Result<void>> renew_lease();
  Task<void> keep_status();
  Task<void> keep_lease();
  void compare_pod_range(const json::Value& node);
  [[nodiscard]] json::Value lease_object() const;

  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  const NodeOptions& options_;
  Logger log_;
  std::string node_uid_;
  bool told_pod_range_ = false;
  api::ObjectPtr lease_;
  bool disk_pressure_ = false;
  rt::Event news_;  // the status is to be written now
  rt::TaskScope scope_;
};

}  // namespace muster::node
