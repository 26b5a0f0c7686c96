#include "node/pod/status.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "api/waiting.h"
#include "node/agent/declared.h"
#include "node/pod/back_off.h"

namespace muster::node {

namespace {

using Role = ContainerFacts::Role;

std::string container_id(const json::Value& pod, const ContainerFacts& container, int attempt) {
  return fmt::format("muster://{}/{}/{}", api::uid_of(pod), container.name, attempt);
}

json::Value terminated(const json::Value& pod, const ContainerFacts& container,
                       const Ending& ending) {
  json::Value out = json::Object{{"exitCode", ending.exit_code}};
  if (ending.signal != 0) out["signal"] = ending.signal;
  if (!ending.reason.empty()) out["reason"] = ending.reason;
  if (!ending.message.empty()) out["message"] = ending.message;
  out["startedAt"] = format_time(ending.started);
  out["finishedAt"] = format_time(ending.finished);
  out["containerID"] = container_id(pod, container, ending.attempt);
  return json::Object{{"terminated", std::move(out)}};
}

json::Value waiting(const std::string& reason, const std::string& message) {
  json::Value out = json::Object{{"reason", reason}};
  if (!message.empty()) out["message"] = message;
  return json::Object{{"waiting", std::move(out)}};
}

// 10s, 1m20s: as Go prints durations, because people search for the kubelet's words.
std::string duration_text(Duration delay) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(delay).count();
  if (seconds < 60) return fmt::format("{}s", seconds);
  return fmt::format("{}m{}s", seconds / 60, seconds % 60);
}

// Waiting for its next run; that it is just being started is not worth a write of its own.
bool backs_off(const StatusInput& input, const ContainerFacts& container) {
  const bool again = container.ending() != nullptr && !input.facts.stopping &&
                     !input.facts.settled && wants_restart(input.facts.restart_policy, container);
  if (!again || back_off_delay(input.options.back_off, container.quick_ends) == Duration::zero()) {
    return false;
  }
  return container.starting || restart_at(input.options.back_off, container) > input.now;
}

json::Value state_of(const StatusInput& input, const ContainerFacts& container) {
  if (const auto* running = std::get_if<Running>(&container.state)) {
    return json::Object{{"running", json::Object{{"startedAt", format_time(running->started)}}}};
  }
  if (container.hold && !input.facts.stopping) {
    return waiting(container.hold->reason, container.hold->message);
  }
  if (const auto* ending = container.ending()) {
    if (!backs_off(input, container)) return terminated(input.pod, container, *ending);
    const auto delay = back_off_delay(input.options.back_off, container.quick_ends);
    return waiting("CrashLoopBackOff",
                   fmt::format("back-off {} restarting failed container={} pod={}_{}({})",
                               duration_text(delay), container.name, api::name_of(input.pod),
                               api::namespace_of(input.pod), api::uid_of(input.pod)));
  }
  const bool has_init = input.facts.containers.front().role != Role::Main;
  const bool its_turn = container.role != Role::Main || is_initialized(input.facts);
  return waiting(has_init && !its_turn ? "PodInitializing" : "ContainerCreating", "");
}

json::Value container_status(const StatusInput& input, const ContainerFacts& container,
                             const json::Value& spec, const json::Value& before) {
  const bool between_runs = backs_off(input, container);
  json::Value out = json::Object{{"name", container.name}};
  out["state"] = state_of(input, container);
  if (between_runs) {
    out["lastState"] = terminated(input.pod, container, *container.ending());
  } else if (container.last) {
    out["lastState"] = terminated(input.pod, container, *container.last);
  } else {
    out["lastState"] = json::Object{};
  }
  const bool main = container.role != Role::Init;
  const auto* ending = container.ending();
  out["ready"] =
      main ? container.running() && container.ready : ending != nullptr && ending->exit_code == 0;
  out["restartCount"] = std::max<std::int64_t>(container.attempt, before["restartCount"].as_int());
  out["image"] = spec["image"].as_string();
  out["imageID"] = "";
  const bool ever_ran = container.running() || ending != nullptr;
  if (ever_ran) {
    out["imageID"] = spec["image"].as_string();
    out["containerID"] = container_id(input.pod, container, container.attempt);
  }
  out["started"] = container.running() && container.startup_passed;
  return out;
}

json::Value container_statuses(const StatusInput& input, const char* field, const char* specs,
                               bool init) {
  json::Array out;
  for (const auto& container : input.facts.containers) {
    if ((container.role != Role::Main) != init) continue;
    const auto* spec = api::find_named(input.pod["spec"][specs], container.name);
    const auto* before = api::find_named(input.pod["status"][field], container.name);
    static const json::Value none;
    out.push_back(container_status(input, container, spec == nullptr ? none : *spec,
                                   before == nullptr ? none : *before));
  }
  return out;
}

class Conditions {
 public:
  Conditions(const StatusInput& input)  // NOLINT(google-explicit-constructor)
      : now_(format_time(input.now)), list_(input.pod["status"]["conditions"].as_array()) {}

  void set(const char* type, bool value, const std::string& reason, const std::string& message) {
    const auto found = std::ranges::find_if(list_, [type](const json::Value& c) {
      return std::as_const(c)["type"].as_string() == type;
    });
    const std::string status = value ? "True" : "False";
    json::Value fresh = json::Object{{"type", type},
                                     {"status", status},
                                     {"lastProbeTime", nullptr},
                                     {"lastTransitionTime", now_}};
    if (!reason.empty()) fresh["reason"] = reason;
    if (!message.empty()) fresh["message"] = message;
    if (found == list_.end()) {
      list_.push_back(std::move(fresh));
      return;
    }
    const auto& old = std::as_const(*found);
    if (old["status"].as_string() == status) {
      fresh["lastTransitionTime"] = old["lastTransitionTime"];
    }
    if (!old["observedGeneration"].is_null()) {
      fresh["observedGeneration"] = old["observedGeneration"];
    }
    *found = std::move(fresh);
  }
  json::Array take() { return std::move(list_); }

 private:
  std::string now_;
  json::Array list_;
};

// "[a b]" of the names that are not as they should be; empty when all are.
std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("[{}]", fmt::join(names, " "));
}

// Who waits for the pod learns that it need not; said only of pods that it was true of once.
void set_cannot_start(const StatusInput& input, Conditions& out) {
  const auto& containers = input.facts.containers;
  const auto wrong = std::ranges::find_if(containers, [](const ContainerFacts& container) {
    return container.hold && container.hold->for_good;
  });
  if (wrong != containers.end()) {
    out.set(api::kCannotStart.data(), true, std::string(api::cannot_start::kInvalidContainer),
            wrong->hold->message);
  } else if (!api::condition_of(input.pod, api::kCannotStart).is_null()) {
    out.set(api::kCannotStart.data(), false, "", "");
  }
}

// Why a condition that the pod's readiness waits for does not hold, in the kubelet's words.
std::string closed_gate(const json::Value& pod) {
  for (const auto& gate : pod["spec"]["readinessGates"].as_array()) {
    const auto& type = gate["conditionType"].as_string();
    const auto& condition = api::condition_of(pod, type);
    if (condition.is_null()) {
      return fmt::format("corresponding condition of pod readiness gate \"{}\" does not exist.",
                         type);
    }
    const auto& status = condition["status"].as_string();
    if (status == "True") continue;
    return fmt::format("the status of pod readiness gate \"{}\" is not \"True\", but {}", type,
                       status);
  }
  return "";
}

json::Array conditions_of(const StatusInput& input, api::PodPhase phase) {
  Conditions out(input);
  std::vector<std::string> unready;
  std::vector<std::string> incomplete;
  for (const auto& container : input.facts.containers) {
    const auto* ending = container.ending();
    if (container.role == Role::Init) {
      if (ending == nullptr || ending->exit_code != 0) incomplete.push_back(container.name);
    } else if (!container.running() || !container.ready) {
      unready.push_back(container.name);
    }
  }
  const bool finished = api::is_finished(phase);
  std::string reason = "ContainersNotReady";
  if (finished) reason = phase == api::PodPhase::Succeeded ? "PodCompleted" : "PodFailed";
  const auto message =
      finished || unready.empty() ? "" : "containers with unready status: " + listed(unready);
  const bool ready = !finished && unready.empty();
  const auto gate = ready ? closed_gate(input.pod) : "";

  out.set("PodReadyToStartContainers", input.facts.sandbox && !finished, "", "");
  if (phase == api::PodPhase::Succeeded) {
    out.set("Initialized", true, "PodCompleted", "");
  } else if (is_initialized(input.facts)) {
    out.set("Initialized", true, "", "");
  } else {
    out.set("Initialized", false, "ContainersNotInitialized",
            "containers with incomplete status: " + listed(incomplete));
  }
  if (gate.empty()) {
    out.set("Ready", ready, ready ? "" : reason, message);
  } else {
    out.set("Ready", false, "ReadinessGatesNotReady", gate);
  }
  out.set("ContainersReady", ready, ready ? "" : reason, message);
  if (!input.pod["spec"]["nodeName"].as_string().empty()) out.set("PodScheduled", true, "", "");
  set_cannot_start(input, out);
  if (input.facts.failure && input.facts.failure->disruption) {
    out.set(kDisruptionCondition, true, "TerminationByKubelet", input.facts.failure->message);
  }
  if (const auto declared = declared_resources(input.pod, input.options); !declared.empty()) {
    out.set(kDeclaredCondition, true, kDeclaredReason, declared_message(declared));
  }
  return out.take();
}

// As a kubelet says it: nothing of its containers, because there were none.
json::Value refused_status(const StatusInput& input, json::Value out) {
  const auto& failure = *input.facts.failure;
  Conditions conditions(input);
  conditions.set(api::kCannotStart.data(), true, std::string(api::cannot_start::kRefused),
                 failure.message);
  out["phase"] = std::string(api::to_string(api::PodPhase::Failed));
  out["conditions"] = conditions.take();
  out["reason"] = failure.reason;
  out["message"] = failure.message;
  if (input.facts.start_time) out["startTime"] = format_time(*input.facts.start_time);
  return out;
}

}  // namespace

json::Value pod_status(const StatusInput& input) {
  json::Value out = input.pod["status"];
  if (!out.is_object()) out = json::Object{};
  if (input.facts.settled) return out;  // the final word was said
  if (input.facts.unknown) {
    out["reason"] = kUnknownReason;
    out["message"] = *input.facts.unknown;
    return out;
  }
  if (std::as_const(out)["reason"].as_string() == kUnknownReason) {
    out.object().erase("reason");
    out.object().erase("message");
  }

  if (input.facts.refused) return refused_status(input, std::move(out));

  const auto phase = phase_of(input.facts);
  out["phase"] = std::string(api::to_string(phase));
  out["conditions"] = conditions_of(input, phase);
  out["hostIP"] = input.options.host_ip;
  out["hostIPs"] = json::Array{json::Object{{"ip", input.options.host_ip}}};
  if (!input.facts.pod_ip.empty()) {
    out["podIP"] = input.facts.pod_ip;
    out["podIPs"] = json::Array{json::Object{{"ip", input.facts.pod_ip}}};
  }
  if (input.facts.start_time) out["startTime"] = format_time(*input.facts.start_time);
  if (!input.pod["spec"]["initContainers"].as_array().empty()) {
    out["initContainerStatuses"] =
        container_statuses(input, "initContainerStatuses", "initContainers", true);
  }
  out["containerStatuses"] = container_statuses(input, "containerStatuses", "containers", false);
  if (input.facts.lost_files > 0) out[kStatusOfMuster][kLostFiles] = input.facts.lost_files;
  if (input.facts.failure) {
    out["reason"] = input.facts.failure->reason;
    out["message"] = input.facts.failure->message;
  }
  return out;
}

}  // namespace muster::node
