#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/resource.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "node/agent/events.h"
#include "node/agent/gpus.h"
#include "node/agent/options.h"
#include "node/agent/reference_store.h"
#include "node/pod/container/downward.h"
#include "node/pod/pod_state.h"
#include "node/pod/probes.h"
#include "node/runtime/runtime.h"
#include "node/volumes/volumes.h"
#include "rt/loop.h"
#include "rt/pool.h"
#include "rt/scope.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::node {

using ServiceRules = std::shared_ptr<const std::vector<ServiceRule>>;

// What a worker needs of the node around it. Outlives all workers.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  [[nodiscard]] virtual std::vector<api::ObjectPtr> services() const = 0;
  [[nodiscard]] virtual ServiceRules service_rules() const = 0;
  // The hosts file of the namespace; exists from now on.
  virtual Result<std::string> hosts_file(const std::string& ns) = 0;
  // The names of all pods are in the hosts files when it returns.
  virtual void publish_names() = 0;
  // A write of the worker's was answered with this.
  virtual void wrote(const api::ObjectPtr& pod) = 0;
  // The worker's view() changed: addresses, readiness.
  virtual void pod_changed() = 0;
  // GPUs became free.
  virtual void gpus_released() = 0;
  // The worker has nothing left to do.
  virtual void pod_done(const std::string& uid) = 0;
};

struct WorkerContext {
  rt::Loop& loop;
  cluster::Cluster& cluster;
  Runtime& runtime;
  const NodeOptions& options;
  EventRecorder& events;
  ReferenceStore& references;
  GpuAllocator& gpus;
  Surroundings& surroundings;
  rt::Pool* pool = nullptr;  // for what takes long; null: in place
  Logger log;
};

// One pod's life on this node, from its sandbox to its removal from the API. Lives on the agent's
// loop. What it does next always follows from its record by decide(); tasks around it (starts,
// waits, probes, stops, status writes) only bring the record up to date and wake it. The runtime
// remembers every start, so that no container runs twice, whatever we forget. Ends with close().
class PodWorker {
 public:
  PodWorker(WorkerContext& context, api::ObjectPtr pod, std::optional<AdoptedSandbox> adopted);
  PodWorker(const PodWorker&) = delete;
  PodWorker& operator=(const PodWorker&) = delete;

  void start();
  // A newer version of the same pod.
  void observe(api::ObjectPtr pod);
  // The API no longer has it: whatever runs is ended at once.
  void vanish();
  // A ConfigMap, a Secret, a service or a GPU that it may be waiting for.
  void poke();
  void references_changed(const Reference& reference);
  void services_changed();

  [[nodiscard]] const std::string& uid() const { return uid_; }
  // The pod with the status that we know, which the API may not have yet.
  [[nodiscard]] const api::ObjectPtr& view() const { return view_; }
  [[nodiscard]] bool done() const { return done_; }
  // Over or forgotten by the API, but still holding namespaces and mounts.
  [[nodiscard]] bool is_clearing() const {
    return !done_ && (vanished_ || (record_.settled && record_.sandbox));
  }
  [[nodiscard]] bool vanished() const { return vanished_; }
  Task<void> close();

 private:
  enum class WriteOutcome { Written, Gone, Retry, Cancelled };

  // pod_worker.cc: the loop
  Task<void> run();
  void step();
  void check_deadlines();
  Task<void> wait_for_change();
  Task<void> finish(api::PodPhase phase);
  void remember_view();
  Task<void> tear_down();
  Task<void> remove_from_api();
  void changed();

  // pod_adopt.cc: what an earlier life left
  void adopt(const AdoptedSandbox& adopted);
  void mark_lost();

  // pod_prepare.cc: sandbox, volumes, tokens, GPUs
  Task<void> prepare();
  Task<Result<void>> prepare_all();
  Task<Result<void>> make_sandbox();
  Task<Result<void>> fetch_tokens();
  std::string volume_directory() const;
  std::string memory_directory() const;
  Task<void> refresh_tokens();
  Result<void> make_volumes(bool only_refreshed);
  Task<void> apply_services();
  void hold_all(const Error& error);

  // pod_start.cc: containers
  void begin_start(ContainerRecord& container);
  Task<void> start_container(std::string name, int attempt);
  Task<Result<StartOutcome>> ask_runtime(const json::Value* spec, int attempt);
  void started(ContainerRecord& container, int attempt, const ContainerStart& start);
  void could_not_start(ContainerRecord& container, int attempt, const StartOutcome& outcome);
  void hold(ContainerRecord& container, std::string reason, const Error& error);
  Task<void> watch_container(std::string name, int attempt);
  void ended(ContainerRecord& container, int attempt, const ContainerExit& exit);
  void record_ending(ContainerRecord& container, Ending ending);
  void start_probes(ContainerRecord& container);
  void stop_probes(const std::string& name);
  static Task<void> retire(std::unique_ptr<Prober> prober);
  std::string log_tail(const std::string& name, int attempt) const;
  void on_verdict(const std::string& name, int attempt, Prober::Verdict verdict);
  const json::Value* spec_of(const std::string& name) const;

  // pod_stop.cc
  void begin_stop_all(Duration grace);
  void begin_stop(const std::string& name, int attempt, Duration grace);
  Task<void> stop_container(std::string name, int attempt, Time deadline);
  Task<void> run_pre_stop(std::string name, int attempt, Time deadline);
  [[nodiscard]] bool runs(const std::string& name, int attempt) const;

  // pod_writer.cc: the status in the API
  Task<void> write_statuses();
  Task<WriteOutcome> write_status();
  [[nodiscard]] json::Value desired_status() const;
  [[nodiscard]] bool status_settled() const;
  Task<void> flush();

  Time now() const { return context_.loop.now(); }
  Place place() const;
  Lookup lookup() const;
  void event(EventSeverity severity, std::string reason, std::string message,
             std::string container = "");

  WorkerContext& context_;
  std::string uid_;
  api::ObjectKey key_;
  api::ObjectPtr pod_;
  api::ObjectPtr view_;
  std::optional<AdoptedSandbox> adopted_;
  PodRecord record_;
  std::set<Reference> references_;
  std::map<std::string, VolumeSource> volumes_;
  std::map<std::pair<std::string, std::string>, std::string> tokens_;
  GpuAllocator::ByContainer gpus_;
  ServiceRules applied_rules_;
  std::map<std::string, std::unique_ptr<Prober>> probers_;  // by container; of the current attempt
  std::set<std::pair<std::string, int>> stops_;             // under way
  std::optional<Time> stop_deadline_;
  std::optional<Time> wake_at_;
  std::optional<api::PodPhase> final_;
  std::optional<Time> refresh_tokens_at_;
  int prepare_failures_ = 0;
  Time prepare_at_{};  // not before: the last try failed
  std::string last_written_;
  bool prepared_ = false;
  bool preparing_ = false;
  bool refreshing_tokens_ = false;
  bool applying_services_ = false;
  bool vanished_ = false;
  bool done_ = false;
  bool woken_ = false;
  rt::Event wake_;
  rt::Event dirty_;
  rt::Event written_;
  rt::TaskScope scope_;
};

}  // namespace muster::node
