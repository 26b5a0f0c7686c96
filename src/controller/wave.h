#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "cluster/cluster.h"
#include "controller/children.h"
#include "engine/decide.h"
#include "engine/observed.h"
#include "rt/scope.h"

namespace muster::controller {

// What became of a wave.
struct WaveResult {
  std::vector<engine::Refusal> refusals;  // for the engine to decide on
  std::vector<plan::Note> notes;          // what was created and deleted
  std::vector<std::string> secrets;       // names of those that are there now
  std::optional<Error> failure;           // something to try again, later
  bool job_in_doubt = false;              // the server does not know the job that we know
};

// Sends the actions of one wave together and sorts the answers: caches learn what was done,
// refusals go back to the engine, everything else is tried again. Secrets get their keys here, and
// nothing of them is kept. The caches, the cluster and the source of randomness outlive it.
class WaveRunner {
 public:
  struct Caches {
    PodCache* pods;
    std::function<ObjectCache&(const api::Resource&)> objects;
  };
  // What another operator made for a job becomes ours, or is left to it.
  enum class OfOthers { TakenOver, LeftAlone };

  WaveRunner(rt::Loop& loop, cluster::Cluster& cluster, Caches caches, Rng& rng,
             std::function<bool()> may_write, OfOthers of_others);

  // The plan outlives the task.
  Task<WaveResult> run(const plan::Plan& plan, std::vector<engine::Action> wave);
  // Waves under way.
  [[nodiscard]] int running() const { return running_; }

 private:
  Task<void> send_from(const plan::Plan& plan, std::vector<engine::Action>::const_iterator& next,
                       std::vector<engine::Action>::const_iterator end, WaveResult& result);
  Task<void> send(const plan::Plan& plan, const engine::Action& action, WaveResult& result);
  Task<void> create(const plan::JobRef& job, const api::Resource& resource, json::Value body,
                    engine::Refusal refusal, WaveResult& result);
  Task<void> create_secret(const plan::Plan& plan, const engine::CreateObject& action,
                           WaveResult& result);
  static void refuse(engine::Refusal refusal, WaveResult& result);
  Task<void> settle_existing(const plan::JobRef& job, const api::Resource& resource,
                             json::Value labels, engine::Refusal refusal, WaveResult& result);
  Task<void> take_over(const api::Resource& resource, json::Value existing, json::Value labels,
                       engine::Refusal refusal, WaveResult& result);
  Task<void> remove(const plan::JobRef& job, const api::Resource& resource, std::string name,
                    cluster::DeleteOptions options, WaveResult& result);
  Task<void> look_again(const plan::JobRef& job, const std::string& name, WaveResult& result);
  bool learn(const api::Resource& resource, const json::Value& object);

  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  Caches caches_;
  Rng& rng_;
  std::function<bool()> may_write_;
  OfOthers of_others_;
  rt::Gate gate_;
  int running_ = 0;
};

}  // namespace muster::controller
