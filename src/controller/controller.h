#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "controller/children.h"
#include "controller/kind.h"
#include "controller/metrics.h"
#include "controller/recorder.h"
#include "controller/wave.h"
#include "controller/work_queue.h"
#include "plan/dialect.h"
#include "rt/loop.h"
#include "rt/scope.h"

namespace muster::controller {

// Runs every job of the registry's kinds on a cluster: watches, decides, acts, reports. Keeps
// nothing that matters: whatever it forgets in a crash is in the cluster or in the ledger. Lives on
// the loop; everything it is handed outlives it.
class Controller {
 public:
  struct Options {
    std::string ns;                           // empty: all namespaces
    std::vector<const plan::Dialect*> kinds;  // of the registry; empty: all
    int workers = 64;                         // jobs looked at concurrently
    bool take_over = true;                    // go on with jobs that another operator has begun
    std::function<bool()> may_write;          // asked right before every write; empty: always
    // The policy; the simulation plants faults here to see that its checks find them.
    std::function<engine::Decision(const plan::Plan&, const engine::Observed&, Time)> decide =
        engine::decide;
  };

  Controller(rt::Loop& loop, cluster::Cluster& cluster, const plan::Registry& registry, Rng& rng,
             Logger log, Options options);
  ~Controller();

  // Runs until cancelled.
  Task<void> run();
  // Completes once the caches of all kinds that the cluster has hold what it held when run() began.
  Task<Result<void>> wait_until_synced();
  // Why not all that the cluster has can be followed, in one sentence; empty when all is well. A
  // kind whose CRD is absent is no reason.
  [[nodiscard]] std::string trouble() const;
  // In Prometheus' text form.
  [[nodiscard]] std::string metrics() const;
  // How often a job was looked at.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }
  // Nothing to do and nothing queued.
  [[nodiscard]] bool idle() const { return queue_.idle(); }

 private:
  // What is remembered of a job between two looks; losing it costs only time.
  struct Memory {
    std::string uid;
    Time first_look{};
    std::vector<engine::Refusal> refusals;
    std::set<std::string> secrets;  // of the current epoch: there, as far as we know
    Monotonic last_status{};        // stored then, or first looked at
    Monotonic next_look{};          // what children do is looked at then
    bool recheck = false;           // a child was lost: perhaps because the job is gone
  };

  // The plan of the job that is looked at. Looks in a row share it; nobody keeps it between them:
  // it is larger than the job itself, and made in microseconds.
  struct Compiled {
    std::string uid;
    std::int64_t generation = -1;
    std::string suspend;  // the annotation, which is not part of the generation
    Result<plan::Plan> plan = plan::Plan{};
    std::optional<plan::Warning> warning;
  };

  static Compiled compile(const Kind& kind, const json::Value& job);
  [[nodiscard]] bool may_write() const { return !options_.may_write || options_.may_write(); }
  Kind* kind_of(const std::string& queue_key);
  void enqueue_owner(const std::string& uid, bool lost);
  // Nobody will look at what the pods of this job said when they went.
  void forget_gone(const std::string& uid);
  // Waits for the kind's CRD, its jobs and their children, and lets the workers have them.
  Task<void> begin(Kind& kind, rt::TaskScope& scope);
  Task<void> work();
  Task<Result<void>> sync(const std::string& key);
  Task<Result<void>> read_again(Kind& kind, const api::ObjectKey& key, cluster::ObjectPtr job);
  Task<Result<bool>> look(Kind& kind, const std::string& key, cluster::ObjectPtr job,
                          Compiled& compiled);
  Task<Result<bool>> let_go(Kind& kind, cluster::ObjectPtr job);
  Task<Result<bool>> carry_out(Kind& kind, const std::string& key, cluster::ObjectPtr job,
                               const plan::Plan& plan, engine::Decision decision);
  Task<Result<cluster::ObjectPtr>> store_status(Kind& kind, cluster::ObjectPtr job,
                                                json::Value status);
  // A job that has ended and has nothing left to do keeps no more than it will be asked for.
  void settle(const std::string& key);
  bool is_due(const std::string& key, const json::Value& ledger, const json::Value& stored);
  engine::Decision decide(const Result<plan::Plan>& plan, const plan::JobRef& job,
                          const engine::Observed& observed);
  engine::Observed observe(const json::Value& job, Memory& memory);
  void say(const Kind& kind, const plan::JobRef& job, const std::vector<plan::Note>& notes);
  void count(const Kind& kind, const plan::JobRef& job, const json::Value& stored,
             plan::Phase after);

  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  Logger log_;
  Options options_;
  WorkQueue queue_;
  Children children_;
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::map<std::string, Memory> memories_;
  Recorder recorder_;
  WaveRunner waves_;
  Metrics metrics_;
  std::uint64_t looks_ = 0;
};

}  // namespace muster::controller
