#pragma once

#include <string>

#include "base/log.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "cluster/election.h"
#include "cluster/fence.h"
#include "cluster/lease_clock.h"
#include "rt/scope.h"
#include "rt/wait.h"

namespace muster::cluster {

struct LeaderOptions {
  std::string ns;
  std::string name = "muster-operator";
  std::string identity;  // of this process alone
  election::Times times;
};

// Takes part in one leader election, in the background, from start() to close(). Lives on one loop;
// `cluster` outlives it. Leads at most once: after a loss it is over, and the process starts anew
// with empty caches.
//
// may_write() is the fence of everything that the leader does. It must be asked at the moment of
// sending, right before each request: a process that was stopped (SIGSTOP, a machine that slept)
// and continued has no other warning. KubeCluster does that when it is given this as its fence.
// What it guarantees: it says no at the latest `renew_deadline` after the last renewal was sent, as
// the clock in lease_clock.h counts, which is `lease_duration - renew_deadline` before anybody else
// may take the lease.
class Leader final : public Fence {
 public:
  Leader(rt::Loop& loop, Cluster& cluster, Rng& rng, LeaderOptions options, Logger log = {});

  void start();
  // Waits until we lead. Unavailable when the election ended without that.
  Task<Result<void>> elected();
  // Waits until we do not lead any more, or never will.
  Task<void> lost();
  // Releases the lease if we hold it, so that another can take over at once. End first what writes
  // under this leadership: the fence closes with this call.
  Task<void> close();

  [[nodiscard]] bool may_write() const override;

 private:
  Task<void> run();
  Task<election::Observation> perform(election::Action action);
  Task<election::Observation> pause(Duration duration);
  [[nodiscard]] Duration request_limit() const;
  void enter(election::State state);

  rt::Loop& loop_;
  LeaseClock clock_;
  Cluster& cluster_;
  Rng& rng_;
  Logger log_;
  election::Candidate candidate_;
  election::State state_ = election::Following{};
  rt::Event elected_;
  rt::Event over_;
  rt::Event stop_;
  rt::Timer deadline_;  // says that we lost even while a request hangs
  rt::TaskScope scope_;
};

}  // namespace muster::cluster
