#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "checker.h"
#include "fault.h"
#include "forwarding_cluster.h"
#include "history.h"
#include "rt/loop.h"
#include "rt/wait.h"

namespace muster::simulation {

// What all incarnations of the controller share: the numbering of calls, writes and events, the
// faults of the run, and who records and checks. Outlives them.
class Wire {
 public:
  Wire(rt::Loop& loop, Rng& rng, std::vector<Fault> faults, History& history, Checker& checker)
      : loop(loop),
        history(history),
        checker(checker),
        rng_(rng),
        faults_(std::move(faults)),
        pending_(faults_.size(), true) {}

  // One way through the network: 1 to 5 ms.
  Duration latency() {
    return std::chrono::microseconds(1000 + static_cast<std::int64_t>(rng_.below(4000)));
  }
  // Whether a fault of that kind strikes there. Each strikes once.
  bool strike(Fault::Kind kind, std::size_t number);
  // How the write of that number is refused without reaching the server; nothing when it is not.
  std::optional<Error> refusal(std::size_t write);
  // Begins what is to happen around the controller while it makes the call of that number.
  void disturb_at(std::size_t call);

  rt::Loop& loop;
  History& history;
  Checker& checker;
  std::function<void(Fault)> disturb;  // carries it out
  std::size_t calls = 0;
  std::size_t writes = 0;  // without Events, which may get lost
  std::size_t events = 0;
  std::map<api::Resource, std::vector<Monotonic>> lists;  // when each kind was listed
  bool crashed = false;             // the present incarnation is to be replaced
  std::optional<Monotonic> struck;  // when the first fault happened
  std::vector<Fault> strikes;       // those that happened
  Monotonic last_strike;
  Monotonic last_write;
  std::map<api::Resource, std::uint64_t> expired;  // watches from before this version get 410

 private:
  Rng& rng_;
  std::vector<Fault> faults_;
  std::vector<bool> pending_;  // of each
};

// The controller's way to the cluster, for one incarnation of it. Every call takes its time, is
// recorded, checked, and hit by the fault when its number comes up. After a crash nothing passes
// any more: whatever the dead controller still tries on its way out has no effect.
class FaultyCluster final : public ForwardingCluster {
 public:
  FaultyCluster(cluster::Cluster& inner, Wire& wire) : ForwardingCluster(inner), wire_(wire) {}

  Task<Result<cluster::ListPage>> list(const api::Resource& resource,
                                       cluster::ListOptions options) override;
  Task<Result<std::unique_ptr<cluster::Watch>>> watch(const api::Resource& resource,
                                                      cluster::WatchOptions options) override;
  Task<Result<api::ObjectPtr>> get(const api::Resource& resource, api::ObjectKey key) override;
  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override;
  Task<Result<api::ObjectPtr>> update(const api::Resource& resource, json::Value object) override;
  Task<Result<api::ObjectPtr>> update_status(const api::Resource& resource,
                                             json::Value object) override;
  Task<Result<api::ObjectPtr>> remove(const api::Resource& resource, api::ObjectKey key,
                                      cluster::DeleteOptions options) override;

  [[nodiscard]] bool dead() const { return dead_; }
  [[nodiscard]] Wire& wire() { return wire_; }

 private:
  template <class T>
  Task<Result<T>> call(Request request, Task<Result<T>> apply);
  std::unexpected<Error> die();

  Wire& wire_;
  bool dead_ = false;
};

}  // namespace muster::simulation
