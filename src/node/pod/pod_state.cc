#include "node/pod/pod_state.h"

#include <algorithm>

#include "api/object.h"
#include "node/pod/back_off.h"

namespace muster::node {

namespace {

using Role = ContainerRecord::Role;

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
void recall(ContainerRecord& record, const json::Value& status) {
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

bool done(const ContainerRecord& init) {
  if (init.role == Role::Sidecar) return init.running() && init.startup_passed;
  const auto* ending = init.ending();
  return ending != nullptr && ending->exit_code == 0;
}

// An init container that failed and will not be tried again.
bool failed_for_good(const PodRecord& record, const ContainerRecord& init) {
  const auto* ending = init.ending();
  return init.role == Role::Init && ending != nullptr && ending->exit_code != 0 &&
         record.restart_policy == RestartPolicy::Never;
}

class Decider {
 public:
  Decider(const PodRecord& record, const BackOffOptions& options, Time now)
      : record_(record), options_(options), now_(now) {}

  Decision decide() {
    if (record_.settled) return {.final = record_.settled};
    if (record_.stopping) {
      if (nothing_runs()) out_.final = phase_of(record_);
      return out_;
    }
    if (!init_phase()) return out_;
    main_phase();
    return out_;
  }

 private:
  bool nothing_runs() const {
    return std::ranges::none_of(record_.containers,
                                [](const auto& c) { return c.running() || c.starting; });
  }

  // Starts it now, or says when.
  void want(const ContainerRecord& container) {
    if (container.starting || container.running()) return;
    auto at = restart_at(options_, container);
    if (container.hold) at = std::max(at, container.hold->retry_at);
    if (at > now_) {
      out_.wake_at = out_.wake_at ? std::min(*out_.wake_at, at) : at;
      return;
    }
    out_.start.push_back(container.name);
  }

  // True when the main containers may run.
  bool init_phase() {
    // A pod whose main containers ran does not run its init containers again; sidecars come back.
    const bool began = std::ranges::any_of(record_.containers, [](const auto& c) {
      return c.role == Role::Main && (c.running() || c.starting || c.ending() || c.attempt > 0);
    });
    for (const auto& container : record_.containers) {
      if (container.role == Role::Main) break;
      if (began && container.role == Role::Init) continue;
      if (done(container)) continue;
      if (failed_for_good(record_, container)) {
        finish_when_quiet();
        return false;
      }
      if (began && all_main_over()) continue;  // no sidecar comes back for nobody
      want(container);
      if (!began) return false;
    }
    return true;
  }

  bool all_main_over() const {
    return std::ranges::all_of(record_.containers, [this](const auto& c) {
      return c.role != Role::Main ||
             (c.ending() != nullptr && !wants_restart(record_.restart_policy, c));
    });
  }

  void main_phase() {
    if (all_main_over()) {
      finish_when_quiet();
      return;
    }
    for (const auto& container : record_.containers) {
      if (container.role != Role::Main) continue;
      const bool over =
          container.ending() != nullptr && !wants_restart(record_.restart_policy, container);
      if (!over) want(container);
    }
  }

  void finish_when_quiet() {
    for (const auto& container : record_.containers) {
      if (container.role == Role::Sidecar && container.running())
        out_.stop.push_back(container.name);
    }
    if (nothing_runs()) out_.final = phase_of(record_);
  }

  const PodRecord& record_;
  const BackOffOptions& options_;
  Time now_;
  Decision out_;
};

}  // namespace

RestartPolicy restart_policy_of(const json::Value& pod) {
  const auto& policy = pod["spec"]["restartPolicy"].as_string();
  if (policy == "Never") return RestartPolicy::Never;
  return policy == "OnFailure" ? RestartPolicy::OnFailure : RestartPolicy::Always;
}

ContainerRecord* PodRecord::find(std::string_view name) {
  const auto found = std::ranges::find(containers, name, &ContainerRecord::name);
  return found == containers.end() ? nullptr : &*found;
}

const ContainerRecord* PodRecord::find(std::string_view name) const {
  const auto found = std::ranges::find(containers, name, &ContainerRecord::name);
  return found == containers.end() ? nullptr : &*found;
}

PodRecord record_of(const json::Value& pod) {
  PodRecord out;
  out.restart_policy = restart_policy_of(pod);
  out.start_time = api::time_at(pod["status"]["startTime"]);
  const auto phase = api::phase_of(pod);
  if (api::is_finished(phase)) out.settled = phase;
  const auto add = [&](const json::Value& container, Role role, const json::Value& statuses) {
    ContainerRecord record{.name = container["name"].as_string(), .role = role};
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

bool wants_restart(RestartPolicy policy, const ContainerRecord& container) {
  const auto* ending = container.ending();
  if (ending == nullptr) return true;
  if (container.role == Role::Sidecar) return true;
  if (container.role == Role::Init) {
    return ending->exit_code != 0 && policy != RestartPolicy::Never;
  }
  if (policy == RestartPolicy::OnFailure) return ending->exit_code != 0;
  return policy == RestartPolicy::Always;
}

Time restart_at(const BackOffOptions& options, const ContainerRecord& container) {
  const auto* ending = container.ending();
  if (ending == nullptr) return {};
  return ending->finished + back_off_delay(options, container.quick_ends);
}

bool is_initialized(const PodRecord& record) {
  for (const auto& container : record.containers) {
    const bool main_ran =
        container.role == Role::Main &&
        (container.running() || container.ending() != nullptr || container.attempt > 0);
    if (main_ran) return true;
  }
  return std::ranges::all_of(record.containers,
                             [](const auto& c) { return c.role == Role::Main || done(c); });
}

api::PodPhase phase_of(const PodRecord& record) {
  if (record.settled) return *record.settled;
  int ran = 0;
  int running = 0;
  int main = 0;
  int ended = 0;
  int failed = 0;
  bool comes_back = false;
  bool init_failed = false;
  for (const auto& container : record.containers) {
    if (container.running()) ++running;
    if (container.role != Role::Main) {
      init_failed = init_failed || failed_for_good(record, container);
      continue;
    }
    ++main;
    if (container.running() || container.ending() != nullptr || container.attempt > 0) ++ran;
    const auto* ending = container.ending();
    if (ending == nullptr) continue;
    ++ended;
    if (ending->exit_code != 0) ++failed;
    if (!record.stopping && wants_restart(record.restart_policy, container)) comes_back = true;
  }
  if (record.failure && running == 0) return api::PodPhase::Failed;
  if (record.stopping && running == 0 && ended > 0) {
    return ended == main && failed == 0 ? api::PodPhase::Succeeded : api::PodPhase::Failed;
  }
  if (init_failed && running == 0) return api::PodPhase::Failed;
  if (ran == 0 || (ran < main && !record.stopping)) return api::PodPhase::Pending;
  if (ended < main || comes_back || running > 0) return api::PodPhase::Running;
  return failed > 0 ? api::PodPhase::Failed : api::PodPhase::Succeeded;
}

Decision decide(const PodRecord& record, const BackOffOptions& options, Time now) {
  return Decider(record, options, now).decide();
}

}  // namespace muster::node
