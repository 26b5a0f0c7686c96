#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "api/object.h"
#include "node/logs/cri_log.h"
#include "node/pod/back_off.h"
#include "node/pod/container/container_spec.h"
#include "node/pod/pod_worker.h"

namespace muster::node {

namespace {

constexpr Duration kRetryStart = std::chrono::seconds(10);
constexpr Duration kRetryWait = std::chrono::seconds(1);

// FallbackToLogsOnError: at most 2 KiB and 80 lines, as the kubelet.
constexpr std::size_t kFallbackBytes = 2048;
constexpr std::size_t kFallbackLines = 80;

std::string reason_of(const ContainerExit& exit) {
  if (exit.oom_killed) return "OOMKilled";
  if (exit.unknown) return "ContainerStatusUnknown";
  return exit.exit_code == 0 ? "Completed" : "Error";
}

}  // namespace

const json::Value* PodWorker::spec_of(const std::string& name) const {
  const auto& spec = (*pod_)["spec"];
  if (const auto* found = api::find_named(spec["containers"], name)) return found;
  return api::find_named(spec["initContainers"], name);
}

void PodWorker::begin_start(ContainerRecord& container) {
  container.starting = true;
  const int attempt = container.ending() == nullptr ? container.attempt : container.attempt + 1;
  scope_.spawn(start_container(container.name, attempt));
}

Task<Result<StartOutcome>> PodWorker::ask_runtime(const json::Value* spec, int attempt) {
  if (record_.stopping) co_return fail(ErrorCode::Cancelled, "the pod is being stopped");
  // Nothing is known of references until they were asked for; prepare() did that.
  const auto at = place();
  const auto find = lookup();
  const auto services = context_.surroundings.services();
  static const std::vector<std::string> none;
  const auto gpus = gpus_.find((*spec)["name"].as_string());
  auto wanted = CO_TRY(container_spec({.pod = *pod_,
                                       .container = *spec,
                                       .attempt = attempt,
                                       .place = at,
                                       .options = context_.options,
                                       .services = services,
                                       .lookup = find,
                                       .volumes = volumes_,
                                       .gpus = gpus == gpus_.end() ? none : gpus->second}));
  auto outcome = co_await context_.runtime.start_container(uid_, std::move(wanted));
  if (!outcome) {
    // The machine's failure is not the manifest's: told apart by the code.
    auto error = outcome.error();
    if (error.code != ErrorCode::Cancelled) error.code = ErrorCode::Io;
    co_return fail(std::move(error));
  }
  co_return outcome;
}

Task<void> PodWorker::start_container(std::string name, int attempt) {
  const auto* spec = spec_of(name);
  const auto keep = pod_;  // `spec` points into it
  const auto outcome = co_await ask_runtime(spec, attempt);
  auto* container = record_.find(name);
  container->starting = false;
  if (!outcome) {
    const auto& error = outcome.error();
    if (error.code == ErrorCode::Cancelled) {
      changed();
      co_return;
    }
    // Perhaps the sandbox died: it is asked for again.
    if (error.code == ErrorCode::Io) prepared_ = false;
    hold(*container,
         error.code == ErrorCode::Io ? "RunContainerError" : "CreateContainerConfigError", error);
  } else if (outcome->start) {
    started(*container, attempt, *outcome->start);
  } else {
    could_not_start(*container, attempt, *outcome);
  }
  changed();
}

void PodWorker::hold(ContainerRecord& container, std::string reason, const Error& error) {
  event(EventSeverity::Warning, "Failed", "Error: " + error.message, container.name);
  container.hold =
      Hold{.reason = std::move(reason), .message = error.message, .retry_at = now() + kRetryStart};
}

void PodWorker::started(ContainerRecord& container, int attempt, const ContainerStart& start) {
  if (const auto* before = container.ending()) container.last = *before;
  container.attempt = attempt;
  container.hold.reset();
  container.state = Running{.started = start.started};
  const auto* spec = spec_of(container.name);
  container.startup_passed = !probe_of(*spec, ProbeKind::Startup);
  container.ready = !probe_of(*spec, ProbeKind::Readiness);
  event(EventSeverity::Normal, "Started", "Started container " + container.name, container.name);
  scope_.spawn(watch_container(container.name, attempt));
  start_probes(container);
  if (record_.stopping) begin_stop(container.name, attempt, Duration::zero());
}

void PodWorker::could_not_start(ContainerRecord& container, int attempt,
                                const StartOutcome& outcome) {
  if (outcome.failure == StartFailure::Configuration) {
    hold(container, "CreateContainerConfigError", {.message = outcome.message});
    return;
  }
  event(EventSeverity::Warning, "Failed", "Error: " + outcome.message, container.name);
  if (const auto* before = container.ending()) container.last = *before;
  container.attempt = attempt;
  // 126 and 127 as a shell says it. 128, which other runtimes report, would pass for a signal, and
  // policies that retry on signals would try for ever.
  record_ending(container, {.attempt = attempt,
                            .exit_code = outcome.failure == StartFailure::NotFound ? 127 : 126,
                            .reason = "ContainerCannotRun",
                            .message = outcome.message,
                            .started = now(),
                            .finished = now()});
}

Task<void> PodWorker::watch_container(std::string name, int attempt) {
  while (!scope_.stopping()) {
    auto exit = co_await context_.runtime.wait_container(uid_, name, attempt);
    auto* container = record_.find(name);
    if (exit) {
      ended(*container, attempt, *exit);
      changed();
      co_return;
    }
    if (exit.error().code == ErrorCode::Cancelled) co_return;
    if (exit.error().code == ErrorCode::NotFound) {
      const auto* running = std::get_if<Running>(&container->state);
      ended(*container, attempt,
            {.exit_code = 137,
             .unknown = true,
             .started = running == nullptr ? now() : running->started,
             .finished = now()});
      changed();
      co_return;
    }
    const auto slept = co_await rt::sleep_for(context_.loop, kRetryWait);
    if (!slept) co_return;
  }
}

std::string PodWorker::log_tail(const std::string& name, int attempt) const {
  const auto path = context_.runtime.log_path(key_.ns, key_.name, uid_, name, attempt);
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {};
  // A line has about 40 bytes of head: 8 KiB of file hold 2 KiB of text in lines of 14 and more.
  constexpr std::streamoff kWindow = 8192;
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - kWindow));
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::string text;
  CriLogDecoder decoder({});
  decoder.feed(std::string_view(bytes).substr(tail_offset(bytes, kFallbackLines)), text);
  return text.size() > kFallbackBytes ? text.substr(text.size() - kFallbackBytes) : text;
}

void PodWorker::ended(ContainerRecord& container, int attempt, const ContainerExit& exit) {
  Ending ending{.attempt = attempt,
                .exit_code = exit.exit_code,
                .signal = exit.signal,
                .reason = reason_of(exit),
                .message = exit.termination_message,
                .started = exit.started,
                .finished = exit.finished};
  const auto* spec = spec_of(container.name);
  const bool fall_back =
      (*spec)["terminationMessagePolicy"].as_string() == "FallbackToLogsOnError" &&
      exit.exit_code != 0 && ending.message.empty();
  if (fall_back) ending.message = log_tail(container.name, attempt);
  record_ending(container, std::move(ending));
}

void PodWorker::record_ending(ContainerRecord& container, Ending ending) {
  stop_probes(container.name);
  container.quick_ends = count_quick_end(context_.options.back_off, container.quick_ends,
                                         ending.finished - ending.started);
  container.state = std::move(ending);
  container.ready = false;
  container.startup_passed = false;
  container.hold.reset();
  const bool again = !record_.stopping && wants_restart(record_.restart_policy, container);
  if (again && restart_at(context_.options.back_off, container) > now()) {
    event(EventSeverity::Warning, "BackOff",
          fmt::format("Back-off restarting failed container {} in pod {}_{}({})", container.name,
                      key_.name, key_.ns, uid_),
          container.name);
  }
}

void PodWorker::start_probes(ContainerRecord& container) {
  const auto* spec = spec_of(container.name);
  const bool any = probe_of(*spec, ProbeKind::Startup) || probe_of(*spec, ProbeKind::Liveness) ||
                   probe_of(*spec, ProbeKind::Readiness);
  if (!any || container.role == ContainerRecord::Role::Init) return;
  stop_probes(container.name);
  const auto name = container.name;
  const int attempt = container.attempt;
  auto prober = std::make_unique<Prober>(
      context_.loop, context_.runtime,
      Prober::Target{.pod_uid = uid_, .container = name, .pod_ip = record_.pod_ip},
      [this, name, attempt](Prober::Verdict verdict) { on_verdict(name, attempt, verdict); },
      [this, name](ProbeKind kind, const std::string& text) {
        event(EventSeverity::Warning, "Unhealthy",
              fmt::format("{} probe failed: {}", to_string(kind), text), name);
      });
  prober->start(*spec);
  probers_[name] = std::move(prober);
}

Task<void> PodWorker::retire(std::unique_ptr<Prober> prober) {
  co_await prober->close();
}

void PodWorker::stop_probes(const std::string& name) {
  const auto found = probers_.find(name);
  if (found == probers_.end()) return;
  found->second->request_stop();
  scope_.spawn(retire(std::move(found->second)));
  probers_.erase(found);
}

void PodWorker::on_verdict(const std::string& name, int attempt, Prober::Verdict verdict) {
  auto* container = record_.find(name);
  if (!runs(name, attempt)) return;
  if (verdict.kind == ProbeKind::Readiness) {
    if (container->ready == verdict.success) return;
    container->ready = verdict.success;
    changed();
    return;
  }
  if (verdict.success) {
    if (verdict.kind == ProbeKind::Startup) container->startup_passed = true;
    changed();
    return;
  }
  const auto* spec = spec_of(name);
  const char* field = verdict.kind == ProbeKind::Startup ? "startupProbe" : "livenessProbe";
  const auto pod_grace = (*pod_)["spec"]["terminationGracePeriodSeconds"].as_int(30);
  const auto grace = (*spec)[field]["terminationGracePeriodSeconds"].as_int(pod_grace);
  begin_stop(name, attempt, std::chrono::seconds(grace));
}

}  // namespace muster::node
