#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cluster/cluster.h"
#include "json/value.h"
#include "model_kubelet.h"
#include "plan/dialect.h"
#include "rt/loop.h"

namespace muster::simulation {

inline constexpr std::string_view kNamespace = "default";
inline constexpr std::string_view kJob = "train";

// The person in front of the cluster, with one job. Talks to the server directly, and waits for
// what a person would wait for, so that the story is the same however long the controller takes.
class User {
 public:
  User(rt::Loop& loop, cluster::Cluster& cluster, const ModelKubelet& kubelet,
       const plan::Identity& jobs, std::string job, Checker& checker)
      : loop_(loop),
        cluster_(cluster),
        kubelet_(kubelet),
        identity_(jobs),
        jobs_(jobs.resource),
        job_{.ns = std::string(kNamespace), .name = std::move(job)},
        checker_(checker) {}

  Task<void> create(json::Value job);
  Task<void> create_object(const api::Resource& resource, json::Value object);
  Task<void> wait_for_processes(std::size_t count);
  Task<void> wait_for_end();
  Task<void> pause(Duration duration);
  Task<void> set_workers(int replicas);
  Task<void> set_suspend(bool suspend);
  Task<void> set_parallelism(int parallelism);
  // Stores what the edit makes of the job, however often others are faster.
  Task<void> edit(std::function<void(json::Value&)> edit);
  // Waits until the ledger says so.
  Task<void> wait_for_phase(std::string phase);
  [[nodiscard]] std::size_t processes() const { return kubelet_.live(job_.name); }
  // Waits until the job says that so many pods are there.
  Task<void> wait_for_active(int count);
  // Deletes the pod that holds a rank.
  Task<void> remove_pod(int index);
  Task<void> remove_job();
  // Suspends the job, and lets it go after that time.
  Task<void> hold(Duration duration);
  // The ConfigMap that is named after the job.
  Task<void> remove_config();
  Task<void> wait_for_config();
  // Waits until it lists so many ranks.
  Task<void> wait_for_hosts(std::size_t count);

 private:
  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  const ModelKubelet& kubelet_;
  const plan::Identity& identity_;
  const api::Resource& jobs_;
  api::ObjectKey job_;
  Checker& checker_;
};

}  // namespace muster::simulation
