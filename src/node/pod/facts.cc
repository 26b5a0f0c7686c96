#include "node/pod/facts.h"

#include <algorithm>

#include "api/object.h"
#include "node/pod/back_off.h"

namespace muster::node {

namespace {

using Role = ContainerFacts::Role;

Time time_or_epoch(const json::Value& value) {
  return api::time_at(value).value_or(Time{});
}

Ending ending_of(const json::Value& terminated, int attempt) {
  return {.attempt = attempt,
          .exit_code = static_cast<int>(terminated["exitCode"].as_int()),
          .signal = static_cast<int>(terminated["signal"].as_int()),
          .reason = terminated["reason"].as_string(),
          .message = terminated["message"].as_string(),
          .started = time_or_epoch(terminated["startedAt"]),
          .finished = time_or_epoch(terminated["finishedAt"])};
}

// What the API remembers. A container that it shows as running is taken as not started: only the
// runtime knows, and adopt() says so.
void recall(ContainerFacts& record, const json::Value& status) {
  if (status.is_null()) return;
  record.attempt = static_cast<int>(status["restartCount"].as_int());
  record.quick_ends = record.attempt;
  if (status["lastState"]["terminated"].is_object()) {
    record.last = ending_of(status["lastState"]["terminated"], std::max(0, record.attempt - 1));
  }
  if (status["state"]["terminated"].is_object()) {
    record.state = ending_of(status["state"]["terminated"], record.attempt);
    ++record.quick_ends;
  } else if (status["state"]["waiting"]["reason"].as_string() == "CrashLoopBackOff" &&
             record.last) {
    // Between two runs the API shows the ended one as the last.
    record.last->attempt = record.attempt;
    record.state = *record.last;
    ++record.quick_ends;
  } else if (status["state"]["running"].is_object()) {
    record.seen_running = true;
  }
}

}  // namespace

bool lets_others_begin(const ContainerFacts& init) {
  if (init.role == Role::Sidecar) return init.running() && init.startup_passed;
  const auto* ending = init.ending();
  return ending != nullptr && ending->exit_code == 0;
}

bool failed_for_good(const PodFacts& facts, const ContainerFacts& init) {
  const auto* ending = init.ending();
  return init.role == Role::Init && ending != nullptr && ending->exit_code != 0 &&
         facts.restart_policy == ContainerRestartPolicy::Never;
}

ContainerRestartPolicy restart_policy_of(const json::Value& pod) {
  const auto& policy = pod["spec"]["restartPolicy"].as_string();
  if (policy == "Never") return ContainerRestartPolicy::Never;
  return policy == "OnFailure" ? ContainerRestartPolicy::OnFailure : ContainerRestartPolicy::Always;
}

ContainerFacts* PodFacts::find(std::string_view name) {
  const auto found = std::ranges::find(containers, name, &ContainerFacts::name);
  return found == containers.end() ? nullptr : &*found;
}

const ContainerFacts* PodFacts::find(std::string_view name) const {
  const auto found = std::ranges::find(containers, name, &ContainerFacts::name);
  return found == containers.end() ? nullptr : &*found;
}

bool PodFacts::runs(std::string_view name, int attempt) const {
  const auto* container = find(name);
  return container != nullptr && container->running() && container->attempt == attempt;
}

PodFacts facts_of(const json::Value& pod) {
  PodFacts out;
  out.restart_policy = restart_policy_of(pod);
  out.start_time = api::time_at(pod["status"]["startTime"]);
  out.lost_files = pod["status"][kStatusOfMuster][kLostFiles].as_int();
  const auto phase = api::phase_of(pod);
  if (api::is_finished(phase)) out.settled = phase;
  // An eviction goes on where an earlier life of the node left it.
  if (!out.settled && pod["status"]["reason"].as_string() == kEvictedReason) {
    out.failure = {.reason = kEvictedReason,
                   .message = pod["status"]["message"].as_string(),
                   .disruption = !api::condition_of(pod, kDisruptionCondition).is_null()};
    out.stopping = true;
  }
  const auto add = [&](const json::Value& container, Role role, const json::Value& statuses) {
    ContainerFacts record{.name = container["name"].as_string(), .role = role};
    if (const auto* status = api::find_named(statuses, record.name)) recall(record, *status);
    out.containers.push_back(std::move(record));
  };
  for (const auto& container : pod["spec"]["initContainers"].as_array()) {
    const bool sidecar = container["restartPolicy"].as_string() == "Always";
    add(container, sidecar ? Role::Sidecar : Role::Init, pod["status"]["initContainerStatuses"]);
  }
  for (const auto& container : pod["spec"]["containers"].as_array()) {
    add(container, Role::Main, pod["status"]["containerStatuses"]);
  }
  return out;
}

void note_start(ContainerFacts& container, int attempt, Time started) {
  // Attempts come in order: the one before becomes the last state.
  if (const auto* before = container.ending()) container.last = *before;
  container.attempt = attempt;
  container.hold.reset();
  container.state = Running{.started = started};
}

bool note_ending(const PodFacts& facts, ContainerFacts& container, Ending ending,
                 const BackOffOptions& back_off, Time now) {
  container.quick_ends =
      count_quick_end(back_off, container.quick_ends, ending.finished - ending.started);
  container.state = std::move(ending);
  container.ready = false;
  container.startup_passed = false;
  container.hold.reset();
  const bool again = !facts.stopping && wants_restart(facts.restart_policy, container);
  return again && restart_at(back_off, container) > now;
}

bool wants_restart(ContainerRestartPolicy policy, const ContainerFacts& container) {
  const auto* ending = container.ending();
  if (ending == nullptr) return true;
  if (container.role == Role::Sidecar) return true;
  if (container.role == Role::Init) {
    return ending->exit_code != 0 && policy != ContainerRestartPolicy::Never;
  }
  if (policy == ContainerRestartPolicy::OnFailure) return ending->exit_code != 0;
  return policy == ContainerRestartPolicy::Always;
}

Time restart_at(const BackOffOptions& options, const ContainerFacts& container) {
  const auto* ending = container.ending();
  if (ending == nullptr) return {};
  return ending->finished + back_off_delay(options, container.quick_ends);
}

bool is_initialized(const PodFacts& facts) {
  for (const auto& container : facts.containers) {
    const bool main_ran =
        container.role == Role::Main &&
        (container.running() || container.ending() != nullptr || container.attempt > 0);
    if (main_ran) return true;
  }
  return std::ranges::all_of(
      facts.containers, [](const auto& c) { return c.role == Role::Main || lets_others_begin(c); });
}

api::PodPhase phase_of(const PodFacts& facts) {
  if (facts.settled) return *facts.settled;
  int ran = 0;
  int running = 0;
  int main = 0;
  int ended = 0;
  int failed = 0;
  bool comes_back = false;
  bool init_failed = false;
  for (const auto& container : facts.containers) {
    if (container.running()) ++running;
    if (container.role != Role::Main) {
      init_failed = init_failed || failed_for_good(facts, container);
      continue;
    }
    ++main;
    if (container.running() || container.ending() != nullptr || container.attempt > 0) ++ran;
    const auto* ending = container.ending();
    if (ending == nullptr) continue;
    ++ended;
    if (ending->exit_code != 0) ++failed;
    if (!facts.stopping && wants_restart(facts.restart_policy, container)) comes_back = true;
  }
  if (facts.failure && running == 0) return api::PodPhase::Failed;
  if (facts.stopping && running == 0 && ended > 0) {
    return ended == main && failed == 0 ? api::PodPhase::Succeeded : api::PodPhase::Failed;
  }
  if (init_failed && running == 0) return api::PodPhase::Failed;
  if (ran == 0 || (ran < main && !facts.stopping)) return api::PodPhase::Pending;
  if (ended < main || comes_back || running > 0) return api::PodPhase::Running;
  return failed > 0 ? api::PodPhase::Failed : api::PodPhase::Succeeded;
}

}  // namespace muster::node
