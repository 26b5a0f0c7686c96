// Two candidates for one lease, while somebody sets the clock of one of them: never do both lead,
// and never for long nobody.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/random.h"
#include "cluster/leader.h"
#include "cluster/local/local_cluster.h"
#include "dialects/registry.h"
#include "rt/scope.h"
#include "rt/sim_loop.h"
#include "server/embedded.h"
#include "skewed_loop.h"

namespace muster::simulation {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Duration kRun = seconds(150);
// A lease that nobody renews, twice the time in which somebody looks, and a start.
constexpr Duration kLongestGap = seconds(30);

// A process that starts anew whenever it has lost the lease.
class Candidate {
 public:
  Candidate(rt::Loop& loop, cluster::Cluster& cluster, const std::string& name)
      : machine(loop),
        cluster_(cluster),
        rng_(static_cast<std::uint64_t>(name.front())),
        name_(name),
        scope_(loop) {
    scope_.spawn(live());
  }

  Task<void> close() { return scope_.close(); }
  [[nodiscard]] bool leads() const { return leader_ != nullptr && leader_->may_write(); }

  SkewedLoop machine;

 private:
  Task<void> live() {
    const std::stop_token stop = co_await rt::current_stop();
    for (int life = 0; !stop.stop_requested(); ++life) {
      leader_ = std::make_unique<cluster::Leader>(
          machine, cluster_, rng_,
          cluster::LeaderOptions{.ns = "default", .identity = name_ + std::to_string(life)});
      leader_->start();
      if (co_await leader_->elected()) co_await leader_->lost();
      co_await leader_->close();
      [[maybe_unused]] const auto slept = co_await rt::sleep_for(machine, seconds(1));
    }
    leader_.reset();
  }

  cluster::Cluster& cluster_;
  SeededRng rng_;
  std::string name_;
  std::unique_ptr<cluster::Leader> leader_;
  rt::TaskScope scope_;
};

struct Seen {
  bool both = false;
  Duration gap{};  // the longest time without a leader
};

Seen run(Duration jump, Duration at, bool leaders_clock) {
  rt::SimLoop loop(Time(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)));
  SeededRng rng(1);
  const plan::Registry registry = dialects::make_registry();
  auto server = *loop.run(
      server::EmbeddedServer::create({.loop = loop, .rng = rng, .registry = registry, .home = ""}));
  cluster::LocalCluster local(server->core());
  Candidate a(loop, local, "a");
  Candidate b(loop, local, "b");
  Seen seen;
  Monotonic led = loop.monotonic();
  bool jumped = false;
  while (loop.monotonic().since_start < kRun) {
    CHECK(loop.step());
    if (!jumped && loop.monotonic().since_start >= at) {
      jumped = true;
      (a.leads() == leaders_clock ? a : b).machine.jump(jump);
    }
    seen.both = seen.both || (a.leads() && b.leads());
    seen.gap = std::max(seen.gap, loop.monotonic() - led);
    if (a.leads() || b.leads()) led = loop.monotonic();
  }
  loop.run(a.close());
  loop.run(b.close());
  loop.run(server->close());
  return seen;
}

TEST(Lease, OneLeadsWhateverTheClocksSay) {
  for (const Duration jump : {Duration(hours(1)), Duration(-hours(1)), Duration(seconds(12))}) {
    for (int at = 0; at < 40; ++at) {
      for (const bool leaders_clock : {true, false}) {
        const Seen seen = run(jump, at * std::chrono::milliseconds(700), leaders_clock);
        const auto where = testing::Message()
                           << "a jump of " << jump.count() / 1'000'000'000 << " s after "
                           << at * 700 << " ms, " << (leaders_clock ? "leader" : "follower");
        EXPECT_FALSE(seen.both) << where;
        EXPECT_LE(seen.gap, kLongestGap) << where;
      }
    }
  }
}

}  // namespace
}  // namespace muster::simulation
