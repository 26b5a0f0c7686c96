#include "world.h"

#include <algorithm>

#include "api/object.h"
#include "base/check.h"
#include "checker.h"
#include "cluster/local/local_cluster.h"
#include "dialects/registry.h"
#include "end_state.h"
#include "faulty_cluster.h"
#include "history.h"
#include "model_kubelet.h"
#include "rt/scope.h"
#include "rt/sim_loop.h"
#include "server/embedded.h"

namespace muster::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Time kBegin{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};
constexpr Duration kQuiet = minutes(11);
constexpr Duration kHorizon = minutes(60);
// L1: 64 steps for each rank and eight more; a step is a request.
constexpr std::size_t kRanks = 3;
constexpr std::size_t kMostSteps = 64 * (kRanks + 8);
constexpr std::size_t kMostCallbacks = 200'000;  // ten times what the longest run needs

// One life of the controller process.
struct Incarnation {
  Incarnation(rt::Loop& loop, cluster::Cluster& inner, Wire& wire, const plan::Registry& registry,
              std::uint64_t seed, const Mutant* mutant)
      : rng(seed), cluster(inner, wire), scope(loop) {
    controller::Controller::Options options;
    options.workers = 4;
    cluster::Cluster* way = &cluster;
    if (mutant != nullptr && mutant->cluster) {
      mutated = mutant->cluster(cluster);
      way = mutated.get();
    }
    if (mutant != nullptr && mutant->decide) options.decide = mutant->decide();
    controller =
        std::make_unique<controller::Controller>(loop, *way, registry, rng, Logger(), options);
    scope.spawn(controller->run());
  }

  SeededRng rng;
  FaultyCluster cluster;
  std::unique_ptr<cluster::Cluster> mutated;
  std::unique_ptr<controller::Controller> controller;
  rt::TaskScope scope;
};

Task<void> tell(User& user, const Workload& workload, bool& done) {
  co_await user.pause(seconds(1));
  co_await workload.story(user, workload.job);
  done = true;
}

const plan::Identity& identity_of(const plan::Registry& registry, const json::Value& job) {
  const plan::Dialect* dialect = registry.find(api::api_version_of(job), api::kind_of(job));
  CHECK(dialect != nullptr);
  return dialect->identity();
}

// Something of the same name and labels that is not ours: nobody may touch it.
json::Value bystander() {
  return json::Object{
      {"metadata", json::Object{{"name", "train-worker-00"},
                                {"namespace", kNamespace},
                                {"labels", json::Object{{"muster.dev/job-uid", "somebody"},
                                                        {"job-name", kJob}}}}},
      {"spec", json::Object{{"containers",
                             json::Array{json::Object{{"name", "mindspore"}, {"image", "x"}}}}}}};
}

class World {
 public:
  World(const Workload& workload, const RunOptions& options)
      : workload_(workload),
        options_(options),
        loop_(kBegin),
        server_rng_(options.seed * 1000 + 1),
        wire_rng_(options.seed * 1000 + 2),
        kubelet_rng_(options.seed * 1000 + 3),
        registry_(dialects::make_registry()),
        identity_(identity_of(registry_, workload.job)),
        history_(loop_),
        server_(make_server()),
        local_(server_->core()),
        checker_(loop_, server_->core(), identity_.resource, history_),
        wire_(loop_, wire_rng_, options.fault, history_, checker_),
        kubelet_(loop_, local_, kubelet_rng_, workload.script, checker_, history_),
        user_(loop_, local_, kubelet_, identity_, checker_),
        actors_(loop_) {}

  RunResult run() {
    const auto other = loop_.run(local_.create(api::pods(), bystander()));
    CHECK(other.has_value());
    actors_.spawn(kubelet_.run());
    start_controller();
    actors_.spawn(tell(user_, workload_, told_));
    drive();
    check_end(**other);
    RunResult result = report();
    loop_.run(close());
    return result;
  }

 private:
  std::unique_ptr<server::EmbeddedServer> make_server() {
    auto made = loop_.run(server::EmbeddedServer::create(
        {.loop = loop_, .rng = server_rng_, .registry = registry_, .home = ""}));
    CHECK(made.has_value());
    return std::move(*made);
  }

  void start_controller() {
    const std::uint64_t seed = options_.seed * 1000 + 10 + ++lives_;
    life_ = std::make_unique<Incarnation>(loop_, local_, wire_, registry_, seed, options_.mutant);
  }

  void drive() {
    std::size_t callbacks = 0;
    while (!settled()) {
      if (wire_.crashed) replace_controller();
      if (loop_.monotonic().since_start > kHorizon) {
        checker_.violation("L1", "still busy after an hour");
        return;
      }
      if (++callbacks > kMostCallbacks || wire_.writes > 4 * kMostSteps) {
        checker_.violation("L1", "a hot loop");
        return;
      }
      CHECK(loop_.step());
    }
  }

  // The process is gone; half a second later the next one starts with empty caches.
  void replace_controller() {
    wire_.crashed = false;
    loop_.run(life_->scope.close());
    life_.reset();
    [[maybe_unused]] const auto slept =
        loop_.run(rt::sleep_for(loop_, std::chrono::milliseconds(500)));
    start_controller();
  }

  [[nodiscard]] Monotonic last_action() const {
    return std::max(wire_.last_write, kubelet_.last_action());
  }
  [[nodiscard]] bool settled() const {
    return told_ && loop_.monotonic() - last_action() >= kQuiet;
  }

  void check_end(const json::Value& other) {
    if (!told_) checker_.violation("L1", "the story did not come to its end");
    const auto now = loop_.run(local_.get(api::pods(), api::key_of(other)));
    if (!now || **now != other) checker_.violation("S7", "the bystander was touched");
    state_ = loop_.run(read_end_state(local_, identity_));
    if (state_.phase != workload_.phase) {
      checker_.violation(
          "O1", fmt::format("ended as \"{}\" instead of \"{}\"", state_.phase, workload_.phase));
    }
    if (workload_.phase.empty() && kubelet_.live() > 0) {
      checker_.violation("S8", "processes outlive their job");
    }
    if (wire_.calls > kMostSteps) checker_.violation("L1", fmt::format("{} requests", wire_.calls));
    const std::size_t budget = 6 * (kRanks + kubelet_.transitions());
    if (wire_.writes > budget) {
      checker_.violation("S15", fmt::format("{} writes where {} are enough", wire_.writes, budget));
    }
  }

  // How often one kind was listed from the fault until everything was done.
  [[nodiscard]] std::size_t relists() const {
    std::size_t most = 0;
    for (const auto& [resource, times] : wire_.lists) {
      const auto healing = [&](Monotonic at) {
        return wire_.struck && at > *wire_.struck && at <= last_action();
      };
      most = std::max(most, static_cast<std::size_t>(std::ranges::count_if(times, healing)));
    }
    return most;
  }

  RunResult report() {
    return {.violations = checker_.violations(),
            .calls = wire_.calls,
            .writes = wire_.writes,
            .events = wire_.events,
            .relists = relists(),
            .struck = wire_.struck.has_value(),
            .converged = last_action().since_start,
            .end_state = state_.all,
            .essence = state_.essence,
            .created = checker_.created(),
            .deleted = checker_.deleted().size(),
            .hash = history_.hash(),
            .history = history_.lines()};
  }

  Task<void> close() {
    co_await life_->scope.close();
    life_.reset();
    co_await actors_.close();
    co_await server_->close();
  }

  const Workload& workload_;
  RunOptions options_;
  rt::SimLoop loop_;
  SeededRng server_rng_;
  SeededRng wire_rng_;
  SeededRng kubelet_rng_;
  plan::Registry registry_;
  const plan::Identity& identity_;
  History history_;
  std::unique_ptr<server::EmbeddedServer> server_;
  cluster::LocalCluster local_;
  Checker checker_;
  Wire wire_;
  ModelKubelet kubelet_;
  User user_;
  rt::TaskScope actors_;
  std::unique_ptr<Incarnation> life_;
  std::uint64_t lives_ = 0;
  bool told_ = false;
  EndState state_;
};

}  // namespace

RunResult simulate(const Workload& workload, const RunOptions& options) {
  return World(workload, options).run();
}

}  // namespace muster::simulation
