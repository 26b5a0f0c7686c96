#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "node/agent/events.h"
#include "node/agent/followed_objects.h"
#include "node/agent/gpus.h"
#include "node/agent/options.h"
#include "node/agent/reference_store.h"
#include "node/agent/registration.h"
#include "node/disk/keeper.h"
#include "node/exec/program_source.h"
#include "node/logs/log_source.h"
#include "node/pod/worker.h"
#include "node/runtime/runtime.h"
#include "node/volumes/disk_work.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/task.h"

namespace muster::node {

// A node of a cluster, whichever cluster it is: registers, runs the pods that are bound to it and
// says in the API what became of them. Lives on one loop; cluster, runtime and rng outlive it. Pods
// keep running when it ends; the next agent on the same directory takes them over. Ends with
// close().
class NodeAgent final : private PodHost {
 public:
  struct Parts {
    rt::Loop& loop;
    cluster::Cluster& cluster;
    Runtime& runtime;
    Rng& rng;
    std::unique_ptr<DiskWork> disk;
    Logger log;
  };

  static Result<std::unique_ptr<NodeAgent>> create(Parts parts, NodeOptions options);
  NodeAgent(const NodeAgent&) = delete;
  NodeAgent& operator=(const NodeAgent&) = delete;

  // Adopts, registers, and begins to run pods. Returns when the node is in the API and every pod
  // that was here before has somebody who looks after it.
  Task<Result<void>> start();
  Task<void> close();
  // Waits until nothing is left of pods that are over, but not longer than the limit.
  Task<void> settle(Duration limit);

  [[nodiscard]] LogSource& logs() { return logs_; }
  [[nodiscard]] ProgramSource& programs() { return programs_; }
  // For these: the pod as this node has it; null when it has none of that name.
  [[nodiscard]] api::ObjectPtr find_pod(const api::ObjectKey& key) const;
  [[nodiscard]] std::size_t pods() const { return workers_.size(); }

 private:
  NodeAgent(Parts parts, NodeOptions options, GpuAllocator gpus);

  // PodHost
  [[nodiscard]] std::vector<api::ObjectPtr> services() const override;
  [[nodiscard]] ServiceRules service_rules() const override { return rules_; }
  Result<std::string> hosts_file(const std::string& ns) override;
  Task<Result<void>> publish_names() override;
  void wrote(const api::ObjectPtr& pod) override { pods_.learn(pod); }
  void pod_changed() override { schedule_network(); }
  void gpus_released() override;
  Task<void> look_at_disk(api::ObjectPtr pod) override { return keeper_.look_at(std::move(pod)); }
  void pod_done(const std::string& uid) override;
  void pod_rests(const std::string& uid) override { scope_.spawn(dismiss(uid)); }

  // What every copy of the API's objects needs.
  FollowedObjects::Parts followed();
  void on_pod(const api::ObjectPtr& before, const api::ObjectPtr& now);
  void on_reference(const std::string& ns, const Reference& reference);
  [[nodiscard]] bool needs_worker(const json::Value& pod) const;
  void add_worker(const api::ObjectPtr& pod);
  Task<void> reap(std::string uid);
  Task<void> dismiss(std::string uid);
  Task<std::set<std::string>> find_orphans();
  Task<void> remove_orphans(std::set<std::string> uids);
  Task<void> remove_files_of(std::string uid);
  void schedule_network();
  void update_network_within(Duration delay);
  void update_network();
  [[nodiscard]] std::vector<Peer> peers() const;
  DiskKeeper::Parts keeper_parts();
  [[nodiscard]] std::string hosts_path(const std::string& ns) const;

  Parts parts_;
  NodeOptions options_;
  GpuAllocator gpus_;
  EventRecorder events_;
  ReferenceStore references_;
  Registration registration_;
  FollowedObjects pods_;
  FollowedObjects services_;
  LogSource logs_;
  ProgramSource programs_;
  NodeServices shared_;
  std::map<std::string, std::unique_ptr<PodWorker>> workers_;  // by uid
  std::map<std::string, AdoptedSandbox> adopted_;  // by uid, until their worker takes them
  std::map<std::string, std::string> hosts_;       // by namespace: what its file holds
  ServiceRules rules_;
  DiskKeeper keeper_;
  bool running_ = false;
  bool removing_orphans_ = false;
  rt::Timer network_timer_;
  Monotonic network_due_{};
  rt::Event network_updated_;
  rt::TaskScope scope_;
};

}  // namespace muster::node
