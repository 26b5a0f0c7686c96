#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "checker.h"
#include "cluster/cluster.h"
#include "history.h"
#include "rt/loop.h"
#include "rt/scope.h"

namespace muster::simulation {

// How the processes of a job end. As in real training, nobody gets anywhere alone: the clock of
// every rank starts when all ranks are up together, and stops when one of them is lost.
struct Script {
  struct Exit {
    Duration after{};
    int code = 0;
    bool disrupted = false;  // the cluster takes it away
    std::string message;     // what it leaves as termination message
  };
  std::size_t ranks = 3;  // how many are all
  // By "Worker/0#0": rank and attempt; "Worker/0#0@2" in epoch 2, "Worker/0#0+1" after a restart in
  // place; without one it runs on.
  std::map<std::string, Exit> exits;
};

// Places and starts pods, keeps the table of processes, ends them as the script says, and honours
// deletion: the process ends within its grace, then the pod goes. Talks to the server directly:
// faults are the controller's. Lives on the loop; ends when run() is cancelled.
class ModelKubelet {
 public:
  ModelKubelet(rt::Loop& loop, cluster::Cluster& cluster, Rng& rng, Script script, Checker& checker,
               History& history);

  Task<void> run();
  // Processes that are up.
  [[nodiscard]] std::size_t live() const { return live_; }
  // Starts and ends so far.
  [[nodiscard]] std::size_t transitions() const { return transitions_; }
  [[nodiscard]] Monotonic last_action() const { return last_action_; }

 private:
  struct Pod {
    api::ObjectKey key;
    Process process;
    std::string container;
    std::string gate;                  // the ConfigMap that its container waits for
    std::vector<std::string> secrets;  // that are mounted in it
    bool restarts_in_place = false;    // whatever ends is started again
    std::string ip;
    bool up = false;
    bool stopping = false;
  };

  void handle(const cluster::WatchEvent& event);
  Task<void> start(std::string uid);
  Task<bool> pass_gate(std::string uid, std::string ip);
  Task<bool> mount_secrets(std::string uid);
  Task<void> begin_process(std::string uid);
  Task<void> restart(std::string uid);
  Task<void> stop(std::string uid);
  Task<void> reap(std::string uid);  // the pod was taken away under a running process
  Task<void> exit_later(std::string uid, std::uint64_t round, Script::Exit exit);
  void begin_together();
  void end(Pod& pod, Checker::End how);
  Task<void> write_status(api::ObjectKey key, std::string uid, json::Value status);
  Duration a_moment() { return std::chrono::milliseconds(20 + static_cast<int>(rng_.below(60))); }
  Pod* find(const std::string& uid);

  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  Rng& rng_;
  Script script_;
  Checker& checker_;
  History& history_;
  rt::TaskScope scope_;
  std::map<std::string, Pod> pods_;  // by uid
  std::size_t live_ = 0;
  std::size_t transitions_ = 0;
  std::uint64_t round_ = 0;  // of being together; a loss begins another
  int addresses_ = 0;
  Monotonic last_action_;
};

}  // namespace muster::simulation
