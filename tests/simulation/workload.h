#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "json/value.h"
#include "model_kubelet.h"
#include "plan/dialect.h"
#include "rt/loop.h"

namespace muster::simulation {

inline constexpr std::string_view kNamespace = "default";
inline constexpr std::string_view kJob = "train";

// The person in front of the cluster. Talks to the server directly, and waits for what a person
// would wait for, so that the story is the same however long the controller takes.
class User {
 public:
  User(rt::Loop& loop, cluster::Cluster& cluster, const ModelKubelet& kubelet,
       const plan::Identity& jobs, Checker& checker)
      : loop_(loop),
        cluster_(cluster),
        kubelet_(kubelet),
        identity_(jobs),
        jobs_(jobs.resource),
        checker_(checker) {}

  Task<void> create(json::Value job);
  Task<void> create_object(const api::Resource& resource, json::Value object);
  Task<void> wait_for_processes(std::size_t count);
  Task<void> wait_for_end();
  Task<void> pause(Duration duration);
  Task<void> set_workers(int replicas);
  Task<void> set_suspend(bool suspend);
  Task<void> set_parallelism(int parallelism);
  // Waits until the job says that so many pods are there.
  Task<void> wait_for_active(int count);
  // Deletes the pod that holds a rank.
  Task<void> remove_pod(int index);
  Task<void> remove_job();
  // The ConfigMap that is named after the job.
  Task<void> remove_config();
  Task<void> wait_for_config();

 private:
  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  const ModelKubelet& kubelet_;
  // Stores what the edit makes of the job, however often others are faster.
  Task<void> edit_job(std::function<void(json::Value&)> edit);

  const plan::Identity& identity_;
  const api::Resource& jobs_;
  Checker& checker_;
};

// One story of a job: what it is, how its processes end, and what its user does.
struct Workload {
  std::string name;
  json::Value job;
  Script script;
  Task<void> (*story)(User&, json::Value job);
  std::string_view phase;  // how it ends, by the ledger; empty: the job is gone
  bool racy = false;       // what is made and seen on the way depends on who is faster
};

// create, restart, disruption, success, failure, deadline, ttl, suspend, delete and scale of a job
// with three ranks; recreate, bounce and foreign, where names collide; completions,
// completions_held, completions_taken and queue, of jobs that run so many pods at once until enough
// have succeeded; those of ranks that wait for one ConfigMap, and of elastic
// ones; and those of a master that is tried again and its workers.
const std::vector<Workload>& workloads();
const Workload& workload(std::string_view name);

// One Scheduler and two Workers.
json::Value three_ranks();

}  // namespace muster::simulation
