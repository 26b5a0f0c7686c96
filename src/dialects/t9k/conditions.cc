#include "dialects/t9k/conditions.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/event.h"

namespace muster::dialects::t9k {
namespace {

using plan::CauseKind;
using plan::Phase;

constexpr std::string_view kNoReason = "-";
constexpr std::string_view kInitialized = "The job has been initialized successfully.";
constexpr std::string_view kAllRun = "All pods are running normally.";
constexpr std::string_view kSucceeded = "The job has finished successfully.";
constexpr std::string_view kFailed = "The job exited with an error code.";

constexpr auto kOrder = std::to_array<std::string_view>(
    {"Initialized", "Running", "ReplicaFailure", "Completed", "Failed", "Paused"});

class Conditions {
 public:
  Conditions(json::Array stored, Time now) : list_(std::move(stored)), now_(now) {
    std::erase_if(list_,
                  [](const json::Value& entry) { return entry["type"].as_string().empty(); });
  }

  // The time is that of the last change of status.
  void set(std::string_view type, bool status, std::string_view reason, std::string_view message) {
    const std::string_view word = status ? "True" : "False";
    json::Value* known = find(type);
    const bool turned = known == nullptr || (*known)["status"].as_string() != word;
    json::Value made =
        json::Object{{"type", type},
                     {"status", word},
                     {"reason", reason},
                     {"message", message},
                     {"lastTransitionTime", turned ? json::Value(format_time(now_))
                                                   : std::as_const(*known)["lastTransitionTime"]}};
    if (known != nullptr) {
      *known = std::move(made);
    } else {
      list_.push_back(std::move(made));
    }
  }

  // Of those that are there.
  void turn_off(std::string_view type, std::string_view reason, std::string_view message) {
    if (find(type) != nullptr) set(type, false, reason, message);
  }

  // In the order of the documentation, whatever was seen first.
  [[nodiscard]] json::Array take() {
    std::ranges::sort(list_, {}, [](const json::Value& entry) {
      const std::string& type = entry["type"].as_string();
      return std::pair(std::ranges::find(kOrder, type) - kOrder.begin(), type);
    });
    return std::move(list_);
  }

 private:
  json::Value* find(std::string_view type) {
    const auto found = std::ranges::find_if(
        list_, [&](const json::Value& entry) { return entry["type"].as_string() == type; });
    return found == list_.end() ? nullptr : &*found;
  }

  json::Array list_;
  Time now_;
};

std::string with_remark(std::string_view text, const std::string& remark) {
  return remark.empty() ? std::string(text) : fmt::format("{} {}", text, remark);
}

// All that the job consists of is there.
bool is_initialized(const plan::Plan& plan, const plan::Verdict& verdict) {
  return !plan.roles.empty() && std::cmp_equal(verdict.ranks.size(), plan.total_replicas());
}

void set_replica_failure(const plan::Verdict& verdict, Conditions& conditions) {
  const auto& cause = verdict.cause ? verdict.cause : verdict.ledger.cause;
  if (cause && cause->kind == CauseKind::PodFailed && !cause->pod.empty()) {
    conditions.set("ReplicaFailure", true, "ErrorInPod", pod_failure(*cause));
  } else {
    conditions.set("ReplicaFailure", false, kNoReason, kAllRun);
  }
}

void set_going(const plan::Plan& plan, const plan::Verdict& verdict, Conditions& conditions) {
  conditions.turn_off("Paused", "Resumed", "The job goes on.");
  if (verdict.phase == Phase::Created) {
    conditions.turn_off("Running", kNoReason, "Not all pods are running yet.");
    if (!is_initialized(plan, verdict)) return;
  }
  conditions.set("Initialized", true, kNoReason, kInitialized);
  if (verdict.phase == Phase::Running) conditions.set("Running", true, kNoReason, kAllRun);
  set_replica_failure(verdict, conditions);
}

void set_succeeded(const plan::Verdict& verdict, Conditions& conditions) {
  const std::string text = with_remark(kSucceeded, verdict.remark);
  conditions.set("Initialized", true, kNoReason, kInitialized);
  conditions.set("Running", false, "Succeeded", kSucceeded);
  conditions.set("ReplicaFailure", false, "Finished", kSucceeded);
  conditions.set("Completed", true, "Succeeded", text);
  conditions.set("Failed", false, "Succeeded", kSucceeded);
}

void set_failed(const plan::Verdict& verdict, Conditions& conditions) {
  const Text text = failure_text(verdict);
  conditions.set("Running", false, text.reason, text.message);
  if (verdict.cause && !verdict.cause->pod.empty()) {
    conditions.set("ReplicaFailure", true, "ErrorInPod", pod_failure(*verdict.cause));
  }
  conditions.set("Completed", true, text.reason, text.message);
  conditions.set("Failed", true, text.reason, text.message);
}

}  // namespace

std::string pod_failure(const plan::Cause& cause) {
  if (cause.exit_code) {
    return fmt::format("Pod[{}] exited with error code {}", cause.pod, *cause.exit_code);
  }
  return fmt::format("Pod[{}] failed: {}", cause.pod,
                     cause.reason.empty() ? "Error" : cause.reason);
}

Text failure_text(const plan::Verdict& verdict) {
  const plan::Cause cause = verdict.cause.value_or(plan::Cause{});
  switch (cause.kind) {
    case CauseKind::InvalidSpec:
      return {"InvalidSpec", api::event_message(cause.text)};
    case CauseKind::ForeignObject:
    case CauseKind::Rejected:
      return {"Failed", api::event_message(cause.text)};
    case CauseKind::PodFailed:
    case CauseKind::BackoffLimit:
    case CauseKind::Deadline:
      break;
  }
  return {"Failed", with_remark(kFailed, verdict.remark)};
}

json::Array make_conditions(const plan::Plan& plan, const json::Value& stored,
                            const plan::Verdict& verdict, Time now) {
  Conditions conditions(stored["conditions"].as_array(), now);
  switch (verdict.phase) {
    case Phase::Created:
    case Phase::Running:
    case Phase::Restarting:
      set_going(plan, verdict, conditions);
      break;
    case Phase::Suspended:
      conditions.turn_off("Running", "Paused", "The job is paused.");
      conditions.set("Paused", true, "Paused",
                     "The job is paused: its pods are deleted, or being deleted.");
      break;
    case Phase::Succeeded:
      set_succeeded(verdict, conditions);
      break;
    case Phase::Failed:
      set_failed(verdict, conditions);
      break;
  }
  return conditions.take();
}

}  // namespace muster::dialects::t9k
