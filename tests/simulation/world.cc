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
#include "incarnation.h"
#include "model_kubelet.h"
#include "rt/scope.h"
#include "rt/sim_loop.h"
#include "server/embedded.h"
#include "skewed_loop.h"
#include "tale.h"
#include "totals.h"

namespace muster::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Time kBegin{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};
constexpr Duration kQuiet = minutes(11);
constexpr Duration kHorizon = minutes(60);
constexpr Duration kJump = std::chrono::hours(1);  // of a clock
constexpr Duration kBriefly = std::chrono::milliseconds(200);
constexpr Duration kLong = seconds(25);          // all pods are gone by then
constexpr std::size_t kRanks = 3;                // of a job
constexpr std::size_t kMostCallbacks = 200'000;  // for a job: ten times what the longest run needs

// L1: 64 steps for each rank and eight more; a step is a request.
constexpr std::size_t most_steps(std::size_t jobs) {
  return 64 * (kRanks * jobs + 8);
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

bool is_among(Fault::Kind kind, const std::vector<Fault>& faults) {
  return std::ranges::any_of(faults, [&](const Fault& fault) { return fault.kind == kind; });
}

bool improvised(const std::vector<Fault>& faults) {
  return std::ranges::any_of(
      faults, [](const Fault& fault) { return is_hold(fault.kind) || is_node_loss(fault.kind); });
}

class World {
 public:
  World(const std::vector<const Workload*>& workloads, const RunOptions& options)
      : options_(options),
        loop_(kBegin),
        machine_(loop_),
        server_rng_(options.seed * 1000 + 1),
        wire_rng_(options.seed * 1000 + 2),
        kubelet_rng_(options.seed * 1000 + 3),
        registry_(dialects::make_registry()),
        tales_(make_tales(workloads)),
        history_(loop_),
        server_(make_server()),
        local_(server_->core()),
        checker_(machine_, server_->core(), kinds(), history_),
        wire_(loop_, wire_rng_, options.faults, history_, checker_),
        kubelet_(loop_, local_, kubelet_rng_, scripts(), checker_, history_),
        actors_(loop_) {
    for (Tale& tale : tales_) {
      tale.user =
          std::make_unique<User>(loop_, local_, kubelet_, *tale.identity, tale.name(), checker_);
    }
    wire_.disturb = [this](Fault fault) { disturb(fault); };
    // What the clock put off by an hour is waited for.
    if (is_among(Fault::Kind::ClockBack, options.faults)) patience_ = kJump + minutes(1);
  }

  RunResult run() {
    const auto other = loop_.run(local_.create(api::pods(), bystander()));
    CHECK(other.has_value());
    actors_.spawn(kubelet_.run());
    start_controller();
    actors_.spawn(note_beginning());
    for (Tale& tale : tales_) actors_.spawn(tell(tale));
    drive();
    check_end(**other);
    RunResult result = report();
    loop_.run(close());
    return result;
  }

 private:
  std::vector<Tale> make_tales(const std::vector<const Workload*>& workloads) {
    std::vector<Tale> tales;
    for (const Workload* workload : workloads) {
      Tale& tale = tales.emplace_back();
      tale.workload = workload;
      tale.job = workload->job;
      std::string name = tale.name();
      if (tales.size() > 1) name += "-" + std::string(tales.size() - 1, '1');
      tale.job["metadata"]["name"] = name;
      tale.identity = &identity_of(registry_, workload->job);
    }
    return tales;
  }
  std::set<api::Resource> kinds() {
    std::set<api::Resource> all;
    for (const Tale& tale : tales_) all.insert(tale.identity->resource);
    return all;
  }
  std::map<std::string, Script> scripts() {
    std::map<std::string, Script> all;
    for (const Tale& tale : tales_) {
      Script& script = all[tale.name()] = tale.workload->script;
      script.improvises = improvised(options_.faults);
      script.fails_for_good = tale.workload->phase == "Failed";
    }
    return all;
  }

  std::unique_ptr<server::EmbeddedServer> make_server() {
    auto made = loop_.run(server::EmbeddedServer::create(
        {.loop = loop_, .rng = server_rng_, .registry = registry_, .home = ""}));
    CHECK(made.has_value());
    return std::move(*made);
  }

  void start_controller() {
    const std::uint64_t seed = options_.seed * 1000 + 10 + ++lives_;
    life_ =
        std::make_unique<Incarnation>(machine_, local_, wire_, registry_, seed, options_.mutant);
  }

  Task<void> note_beginning() {
    [[maybe_unused]] const auto slept = co_await rt::sleep_for(loop_, seconds(1));
    early_calls_ = wire_.calls;
  }

  void disturb(Fault fault) {
    if (is_clock(fault.kind)) {
      checker_.clock_is_set();
      machine_.jump(fault.kind == Fault::Kind::ClockBack ? -kJump : kJump);
    } else if (is_hold(fault.kind)) {
      User& user = *tales_[fault.at % tales_.size()].user;
      actors_.spawn(user.hold(fault.kind == Fault::Kind::HoldLong ? kLong : kBriefly));
    } else {
      actors_.spawn(kubelet_.lose_node(fault.at, fault.kind));
    }
  }

  void drive() {
    while (!settled()) {
      if (wire_.crashed) replace_controller();
      if (loop_.monotonic().since_start > kHorizon + 2 * patience_) {
        checker_.violation("L1", "still busy after an hour");
        return;
      }
      if (++steps_ > kMostCallbacks * tales_.size() ||
          wire_.writes > 4 * most_steps(tales_.size())) {
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
  [[nodiscard]] bool told() const { return std::ranges::all_of(tales_, &Tale::told); }
  [[nodiscard]] bool settled() const {
    return loop_.monotonic() - last_action() >= kQuiet + patience_ && told();
  }

  void check_end(const json::Value& other) {
    if (!told()) checker_.violation("L1", "the story did not come to its end");
    const auto now = loop_.run(local_.get(api::pods(), api::key_of(other)));
    if (!now || **now != other) checker_.violation("S7", "the bystander was touched");
    std::vector<const plan::Identity*> identities;
    for (const Tale& tale : tales_) identities.push_back(tale.identity);
    state_ = loop_.run(read_end_state(local_, identities));
    for (const Tale& tale : tales_) check_end_of(tale);
    for (const api::ObjectPtr& job : state_.jobs) checker_.at_rest(*job, state_.pods);
    if (wire_.calls > most_steps(tales_.size())) {
      checker_.violation("L1", fmt::format("{} requests", wire_.calls));
    }
    const std::size_t transitions = kubelet_.transitions() + wire_.strikes.size();
    const std::size_t budget = 6 * (kRanks * tales_.size() + transitions);
    if (wire_.writes > budget) {
      checker_.violation("S15", fmt::format("{} writes where {} are enough", wire_.writes, budget));
    }
  }

  void check_end_of(const Tale& tale) {
    const auto found = state_.phases.find(tale.name());
    const std::string phase = found == state_.phases.end() ? "" : found->second;
    const std::string_view wanted = tale.workload->phase;
    const bool lost_a_node = std::ranges::any_of(
        wire_.strikes, [](const Fault& fault) { return is_node_loss(fault.kind); });
    // Whom the cluster takes away for good fails where its role is not tried again.
    if (phase != wanted && !(lost_a_node && phase == "Failed")) {
      checker_.violation(
          "O1", fmt::format("{} ended as \"{}\" instead of \"{}\"", tale.name(), phase, wanted));
    }
    if (wanted.empty() && kubelet_.live(tale.name()) > 0) {
      checker_.violation("S8", "processes outlive their job");
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
            .early_calls = early_calls_,
            .steps = steps_,
            .struck = wire_.strikes,
            .last_struck = wire_.last_strike.since_start,
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

  RunOptions options_;
  rt::SimLoop loop_;
  SkewedLoop machine_;  // the controller's
  SeededRng server_rng_;
  SeededRng wire_rng_;
  SeededRng kubelet_rng_;
  plan::Registry registry_;
  std::vector<Tale> tales_;
  History history_;
  std::unique_ptr<server::EmbeddedServer> server_;
  cluster::LocalCluster local_;
  Checker checker_;
  Wire wire_;
  ModelKubelet kubelet_;
  rt::TaskScope actors_;
  std::unique_ptr<Incarnation> life_;
  std::uint64_t lives_ = 0;
  Duration patience_{};  // beyond the usual
  std::size_t early_calls_ = 0;
  std::size_t steps_ = 0;
  EndState state_;
};

}  // namespace

RunResult simulate(const Workload& workload, const RunOptions& options) {
  return simulate(std::vector{&workload}, options);
}

RunResult simulate(const std::vector<const Workload*>& workloads, const RunOptions& options) {
  RunResult result = World(workloads, options).run();
  Totals::of_this_process().add(result);
  return result;
}

}  // namespace muster::simulation
