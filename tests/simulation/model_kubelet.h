#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "checker.h"
#include "cluster/cluster.h"
#include "fault.h"
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
  bool alone = false;  // nobody needs the others; obeyed by those that improvise
  // Tries that nobody foresaw end well where one of their rank does, else as they would have
  // before.
  bool improvises = false;
  bool fails_for_good = false;  // then such a try fails as well, whichever it is

  [[nodiscard]] const Exit* exit_of(const Process& process) const;
};

// Places and starts pods on three nodes, keeps the table of processes, ends them as the scripts
// say, and honours deletion: the process ends within its grace, then the pod goes. Talks to the
// server directly: faults are the controller's. Lives on the loop; ends when run() is cancelled.
class ModelKubelet {
 public:
  // Scripts by the names of jobs.
  ModelKubelet(rt::Loop& loop, cluster::Cluster& cluster, Rng& rng,
               std::map<std::string, Script> scripts, Checker& checker, History& history);

  Task<void> run();
  // A node that cannot be reached: its processes run, and nothing is heard of them or said to them.
  // Their pods are not ready after 40 s, and told to go after five minutes more. NodeAway: it is
  // back before that. NodeEvicted: after. NodeRemoved: never; its processes are over, and then its
  // pods are collected.
  Task<void> lose_node(std::size_t node, Fault::Kind how);
  // Processes that are up, of a job.
  [[nodiscard]] std::size_t live(const std::string& job) const;
  // Starts and ends so far.
  [[nodiscard]] std::size_t transitions() const { return transitions_; }
  [[nodiscard]] Monotonic last_action() const { return last_action_; }

 private:
  struct Pod {
    api::ObjectKey key;
    std::string job;
    std::string node;  // once it is placed
    Process process;
    std::string container;
    std::string gate;                  // the ConfigMap that its container waits for
    std::vector<std::string> secrets;  // that are mounted in it
    bool restarts_in_place = false;    // whatever ends is started again
    std::string ip;
    bool up = false;
    bool stopping = false;
    std::uint64_t said = 0;     // about its status
    std::uint64_t written = 0;  // of that
  };
  // The processes of one job.
  struct Party {
    std::size_t live = 0;
    std::uint64_t round = 0;  // of being together; a loss begins another
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
  // Their clocks start when all of them are up and can reach each other, and stop when one is lost;
  // whoever is alone goes by his own.
  void begin_together(const std::string& job);
  bool are_together(const std::string& job);
  void part(const std::string& job);
  void end(Pod& pod, Checker::End how);
  [[nodiscard]] std::string node_for(const Pod& pod) const;
  // Waits until the pod's node can be reached; false when that will never be.
  Task<bool> reach(std::string uid);
  [[nodiscard]] std::vector<std::string> pods_on(const std::string& node) const;  // by uid
  Task<void> say_ready(std::string uid, const char* status);
  Task<void> tell_to_go(std::string uid);
  Task<void> collect(std::string uid);
  void come_back(const std::string& node);
  // As the pod's kubelet; and as anybody.
  Task<void> report(std::string uid, json::Value status);
  Task<void> write_status(api::ObjectKey key, std::string uid, json::Value status);
  Duration a_moment() { return std::chrono::milliseconds(20 + static_cast<int>(rng_.below(60))); }
  Pod* find(const std::string& uid);

  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  Rng& rng_;
  std::map<std::string, Script> scripts_;
  Checker& checker_;
  History& history_;
  rt::TaskScope scope_;
  std::map<std::string, Pod> pods_;       // by uid
  std::map<std::string, Party> parties_;  // by job
  std::set<std::string> away_;            // nodes
  std::size_t transitions_ = 0;
  int addresses_ = 0;
  Monotonic last_action_;
};

}  // namespace muster::simulation
