// How long the engine needs for one decision on a large job: every Worker has a Service, and all of
// them have just failed with a code that asks for a retry. Prints JSON; the best of five, because
// what else runs on the machine only adds.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "engine/decide.h"
#include "json/write.h"

namespace {

using namespace muster;
using std::chrono::steady_clock;

constexpr Time kNow = Time(std::chrono::seconds(1'800'000'000));

plan::Plan large_plan(int workers) {
  plan::Plan plan;
  plan.job = {
      .resource = {.group = "example.org", .version = "v1", .plural = "jobs", .kind = "Job"},
      .ns = "default",
      .name = "large",
      .uid = "uid-large"};
  plan::Role role{.name = "Worker", .replicas = workers, .pod_name = {.stem = "large-worker"}};
  role.main_container = "main";
  role.retry = {.on = plan::Retry::On::RetryableCode, .codes = {.listed = {137}}};
  plan.roles.push_back(role);
  plan.objects.push_back({.id = {api::services(), ""}, .each_rank_of = "Worker"});
  plan.success = {plan::all_of("Worker", plan::RankSet::Outcome::Succeeded)};
  plan.failure = {plan::any_of("Worker", plan::RankSet::Outcome::Failed)};
  plan.running = plan::any_of("Worker", plan::RankSet::Outcome::Running);
  return plan;
}

engine::Observed all_failed(int workers) {
  engine::Observed observed;
  observed.ledger.start_time = kNow;
  for (int index = 0; index < workers; ++index) {
    engine::PodView pod;
    pod.name = fmt::format("large-worker-{}", index);
    pod.uid = fmt::format("00000000-0000-0000-0000-{:012}", index);
    pod.role = "Worker";
    pod.index = index;
    pod.phase = api::PodPhase::Failed;
    pod.containers = {{.name = "main", .exit_code = 137, .reason = "Error"}};
    observed.objects.push_back(
        {.resource = api::services(), .name = pod.name, .uid = "s-" + pod.uid});
    observed.pods.push_back(std::move(pod));
  }
  return observed;
}

}  // namespace

int main(int argc, char** argv) {
  const int workers = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const plan::Plan plan = large_plan(workers);
  const engine::Observed observed = all_failed(workers);
  double best = std::numeric_limits<double>::infinity();
  std::size_t deletions = 0;
  std::size_t ledger_bytes = 0;
  for (int i = 0; i < 5; ++i) {
    const auto begun = steady_clock::now();
    const engine::Decision decision = engine::decide(plan, observed, kNow);
    const std::chrono::duration<double, std::milli> took = steady_clock::now() - begun;
    best = std::min(best, took.count());
    deletions = decision.wave.size();
    ledger_bytes = json::write(decision.verdict.ledger.to_json()).size();
  }
  fmt::print("{{\"workers\": {}, \"decide_ms\": {:.2f}, \"actions\": {}, \"ledger_bytes\": {}}}\n",
             workers, best, deletions, ledger_bytes);
  return 0;
}
