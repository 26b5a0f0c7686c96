#include "node/pod/container_runner.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "node/logs/log_tail.h"
#include "node/pod/container/environment.h"
#include "node/pod/hooks.h"

namespace muster::node {

namespace {

constexpr Duration kRetryStart = std::chrono::seconds(10);
constexpr Duration kRetryWait = std::chrono::seconds(1);
constexpr int kKilledExitCode = 137;
constexpr Duration kLongestHook = std::chrono::hours(24);

std::string reason_of(const ContainerExit& exit) {
  if (exit.oom_killed) return "OOMKilled";
  if (exit.unknown) return "ContainerStatusUnknown";
  return exit.exit_code == 0 ? "Completed" : "Error";
}

}  // namespace

// --- start

void ContainerRunner::start(const std::string& name, int attempt) {
  subject_.scope.spawn(run_start(name, attempt));
}

Task<Result<StartOutcome>> ContainerRunner::ask_runtime(std::string name, int attempt) {
  const auto start = subject_.node.starts.begin();
  auto spec = CO_TRY(co_await preparation_.container(name, attempt));
  if (subject_.facts.stopping) co_return fail(ErrorCode::Cancelled, "the pod is being stopped");
  auto outcome = co_await subject_.node.runtime.start_container(subject_.uid, std::move(spec));
  if (!outcome) {
    // The machine's failure is not the manifest's: told apart by the code.
    auto error = outcome.error();
    if (error.code != ErrorCode::Cancelled) error.code = ErrorCode::Io;
    co_return fail(std::move(error));
  }
  co_return outcome;
}

Task<void> ContainerRunner::run_start(std::string name, int attempt) {
  const auto known = preparation_.reference_changes();
  const auto outcome = co_await ask_runtime(name, attempt);
  auto& container = *subject_.facts.find(name);
  container.starting = false;
  if (outcome && outcome->start) {
    started(container, attempt, *outcome->start);
  } else if (outcome) {
    could_not_start(container, attempt, *outcome);
  } else if (outcome.error().code == ErrorCode::Io) {
    hold(container, "RunContainerError", outcome.error().message);
    subject_.tell(SandboxLost{});
    co_return;
  } else if (outcome.error().code != ErrorCode::Cancelled) {
    hold(container, "CreateContainerConfigError", outcome.error().message);
    container.hold->for_good = outcome.error().code == ErrorCode::Invalid;
    // What was missing may have come while we were asking; nobody would tell us a second time.
    if (preparation_.reference_changes() != known) subject_.tell(Poked{});
  }
  subject_.tell(Changed{});
}

void ContainerRunner::hold(ContainerFacts& container, std::string reason,
                           const std::string& message) {
  subject_.event(EventSeverity::Warning, "Failed", "Error: " + message, container.name);
  container.hold = Hold{
      .reason = std::move(reason), .message = message, .retry_at = subject_.now() + kRetryStart};
}

void ContainerRunner::started(ContainerFacts& container, int attempt, const ContainerStart& start) {
  note_start(container, attempt, start.started);
  subject_.event(EventSeverity::Normal, "Started", "Started container " + container.name,
                 container.name);
  subject_.scope.spawn(watch(container.name, attempt));
  if (subject_.spec_of(container.name)["lifecycle"]["postStart"].is_object()) {
    container.startup_passed = false;
    container.ready = false;
    subject_.scope.spawn(run_post_start(container.name, attempt));
  } else {
    is_up(container);
  }
  if (subject_.facts.stopping) stopper_.stop(container.name, attempt, Duration::zero());
}

// Nobody waits for it any more, and probes begin.
void ContainerRunner::is_up(ContainerFacts& container) {
  const auto& spec = subject_.spec_of(container.name);
  container.startup_passed = !probe_of(spec, ProbeKind::Startup);
  container.ready = !probe_of(spec, ProbeKind::Readiness);
  start_probes(container);
}

// As kubelets do: until the hook is through the container does not count as started, and one whose
// hook fails is ended.
Task<void> ContainerRunner::run_post_start(std::string name, int attempt) {
  const auto result = co_await run_hook(
      subject_, name, subject_.spec_of(name)["lifecycle"]["postStart"], kLongestHook);
  if (subject_.scope.stopping() || !subject_.facts.runs(name, attempt)) co_return;
  if (result) {
    is_up(*subject_.facts.find(name));
    subject_.tell(Changed{});
    co_return;
  }
  if (result.error().code == ErrorCode::Cancelled) co_return;
  subject_.event(EventSeverity::Warning, "FailedPostStartHook",
                 "PostStartHook failed: " + result.error().message, name);
  const auto grace = (*subject_.pod)["spec"]["terminationGracePeriodSeconds"].as_int(30);
  stopper_.stop(name, attempt, seconds_saturating(grace));
}

void ContainerRunner::could_not_start(ContainerFacts& container, int attempt,
                                      const StartOutcome& outcome) {
  if (outcome.failure == StartFailure::Configuration) {
    hold(container, "CreateContainerConfigError", outcome.message);
    return;
  }
  subject_.event(EventSeverity::Warning, "Failed", "Error: " + outcome.message, container.name);
  if (const auto* before = container.ending()) container.last = *before;
  container.attempt = attempt;
  // 126 and 127 as a shell says it. 128, which other runtimes report, would pass for a signal, and
  // policies that retry on signals would try for ever.
  record_ending(container, {.attempt = attempt,
                            .exit_code = outcome.failure == StartFailure::NotFound ? 127 : 126,
                            .reason = "ContainerCannotRun",
                            .message = outcome.message,
                            .started = subject_.now(),
                            .finished = subject_.now()});
}

// --- end

Task<void> ContainerRunner::watch(std::string name, int attempt) {
  while (!subject_.scope.stopping()) {
    auto exit = co_await subject_.node.runtime.wait_container(subject_.uid, name, attempt);
    if (exit) co_await count_lost_files(name, attempt);
    if (exit && exit->exit_code != 0 && !subject_.facts.stopping)
      co_await subject_.node.host.look_at_disk(subject_.pod);
    auto& container = *subject_.facts.find(name);
    if (!exit && exit.error().code == ErrorCode::NotFound) {
      const auto* running = std::get_if<Running>(&container.state);
      exit = ContainerExit{.exit_code = kKilledExitCode,
                           .unknown = true,
                           .started = running == nullptr ? subject_.now() : running->started,
                           .finished = subject_.now()};
    }
    if (exit) {
      ended(container, attempt, *exit);
      discard(name, attempt);
      subject_.tell(Changed{});
      co_return;
    }
    if (exit.error().code == ErrorCode::Cancelled) co_return;
    const auto slept = co_await rt::sleep_for(subject_.node.loop, kRetryWait);
    if (!slept) co_return;
  }
}

// While its layers are still there.
Task<void> ContainerRunner::count_lost_files(std::string name, int attempt) {
  auto directory = submitter_directory(*subject_.pod);
  if (directory.empty()) co_return;
  const auto count = co_await subject_.node.runtime.count_written(subject_.uid, name, attempt,
                                                                  std::move(directory));
  subject_.facts.lost_files += count;
}

void ContainerRunner::discard(const std::string& name, int attempt) {
  if (api::is_finished(phase_of(subject_.facts))) return;
  subject_.scope.spawn(discard_written(name, attempt));
}

Task<void> ContainerRunner::discard_written(std::string name, int attempt) {
  const auto gone = co_await subject_.node.runtime.discard_written(subject_.uid, name, attempt);
  if (!gone) subject_.node.log.debug("{}: {}", subject_.key.text(), gone.error().message);
}

void ContainerRunner::ended(ContainerFacts& container, int attempt, const ContainerExit& exit) {
  Ending ending{.attempt = attempt,
                .exit_code = exit.exit_code,
                .signal = exit.signal,
                .reason = reason_of(exit),
                .message = exit.termination_message,
                .started = exit.started,
                .finished = exit.finished};
  const auto& policy = subject_.spec_of(container.name)["terminationMessagePolicy"].as_string();
  if (policy == "FallbackToLogsOnError" && exit.exit_code != 0 && ending.message.empty()) {
    ending.message = log_tail(subject_.node.runtime.log_path(
        subject_.key.ns, subject_.key.name, subject_.uid, container.name, attempt));
  }
  record_ending(container, std::move(ending));
}

void ContainerRunner::record_ending(ContainerFacts& container, Ending ending) {
  stop_probes(container.name);
  const bool pauses = note_ending(subject_.facts, container, std::move(ending),
                                  subject_.node.options.back_off, subject_.now());
  if (!pauses) return;
  subject_.event(EventSeverity::Warning, "BackOff",
                 fmt::format("Back-off restarting failed container {} in pod {}_{}({})",
                             container.name, subject_.key.name, subject_.key.ns, subject_.uid),
                 container.name);
}

// --- an earlier life

// The runtime knows better than the API what ran last; the API knows what ended before that.
void ContainerRunner::adopt(const AdoptedSandbox& adopted) {
  subject_.facts.sandbox = adopted.alive;
  subject_.facts.pod_ip = adopted.sandbox.address;
  for (const auto& found : adopted.containers) {
    auto* container = subject_.facts.find(found.name);
    if (found.exit) discard(found.name, found.attempt);
    if (container == nullptr || found.attempt < container->attempt) continue;
    const bool api_has_its_end =
        found.attempt == container->attempt && container->ending() != nullptr;
    if (api_has_its_end) continue;
    note_start(*container, found.attempt, found.start.started);
    container->seen_running = false;
    if (found.exit) {
      ended(*container, found.attempt, *found.exit);
      continue;
    }
    const auto& spec = subject_.spec_of(found.name);
    const auto& status = api::container_status(*subject_.pod, found.name);
    container->startup_passed = !probe_of(spec, ProbeKind::Startup) || status["started"].as_bool();
    container->ready = !probe_of(spec, ProbeKind::Readiness) || status["ready"].as_bool();
    start_probes(*container);
    subject_.scope.spawn(watch(found.name, found.attempt));
  }
}

void ContainerRunner::mark_lost() {
  for (auto& container : subject_.facts.containers) {
    if (!container.seen_running) continue;
    container.seen_running = false;
    record_ending(
        container,
        {.attempt = container.attempt,
         .exit_code = kKilledExitCode,
         .reason = "ContainerStatusUnknown",
         .message = "The container could not be located after a restart of the node agent",
         .started = subject_.now(),
         .finished = subject_.now()});
  }
}

// --- probes

void ContainerRunner::start_probes(const ContainerFacts& container) {
  const auto& spec = subject_.spec_of(container.name);
  const bool any = probe_of(spec, ProbeKind::Startup) || probe_of(spec, ProbeKind::Liveness) ||
                   probe_of(spec, ProbeKind::Readiness);
  if (!any || container.role == ContainerFacts::Role::Init) return;
  stop_probes(container.name);
  const auto name = container.name;
  auto prober = std::make_unique<Prober>(
      subject_.node.loop, subject_.node.runtime,
      ProbeTarget{.pod_uid = subject_.uid, .container = name, .pod_ip = subject_.facts.pod_ip},
      [this, name, attempt = container.attempt](Prober::Verdict verdict) {
        on_verdict(name, attempt, verdict);
      },
      [this, name](ProbeKind kind, const std::string& text) {
        subject_.event(EventSeverity::Warning, "Unhealthy",
                       fmt::format("{} probe failed: {}", to_string(kind), text), name);
      });
  prober->start(spec);
  probers_[name] = std::move(prober);
}

Task<void> ContainerRunner::retire(std::unique_ptr<Prober> prober) {
  co_await prober->close();
}

void ContainerRunner::stop_probes(const std::string& name) {
  const auto found = probers_.find(name);
  if (found == probers_.end()) return;
  found->second->request_stop();
  subject_.scope.spawn(retire(std::move(found->second)));
  probers_.erase(found);
}

void ContainerRunner::stop_probes() {
  for (const auto& container : subject_.facts.containers) stop_probes(container.name);
}

void ContainerRunner::on_verdict(const std::string& name, int attempt, Prober::Verdict verdict) {
  if (!subject_.facts.runs(name, attempt)) return;
  auto& container = *subject_.facts.find(name);
  if (verdict.kind == ProbeKind::Readiness) {
    if (container.ready == verdict.success) return;
    container.ready = verdict.success;
  } else if (verdict.success) {
    if (verdict.kind == ProbeKind::Startup) container.startup_passed = true;
  } else {
    return on_unhealthy(name, attempt, verdict.kind);
  }
  subject_.tell(Changed{});
}

void ContainerRunner::on_unhealthy(const std::string& name, int attempt, ProbeKind kind) {
  const char* field = kind == ProbeKind::Startup ? "startupProbe" : "livenessProbe";
  const auto of_pod = (*subject_.pod)["spec"]["terminationGracePeriodSeconds"].as_int(30);
  const auto& probe = subject_.spec_of(name)[field];
  const auto grace = probe["terminationGracePeriodSeconds"].as_int(of_pod);
  stopper_.stop(name, attempt, seconds_saturating(grace));
}

Task<void> ContainerRunner::close() {
  for (auto& [name, prober] : probers_) co_await prober->close();
  probers_.clear();
}

}  // namespace muster::node
