#include "dialects/kubeflow/status.h"

#include <array>

#include "api/object.h"
#include "dialects/kubeflow/conditions.h"

namespace muster::dialects::kubeflow {
namespace {

using plan::Phase;

// Stored by us or by others: whatever is no condition is dropped.
json::Array read_conditions(const json::Value& status) {
  json::Array conditions = status["conditions"].as_array();
  std::erase_if(conditions,
                [](const json::Value& condition) { return condition["type"].as_string().empty(); });
  return conditions;
}

void add(json::Array& conditions, std::string_view type, Text text, Time now, bool status = true) {
  set_condition(conditions,
                {.type = type,
                 .status = status,
                 .reason = std::move(text.reason),
                 .message = std::move(text.message)},
                now);
}

// The end is announced under its own name and, just before, as Finished, for those who wait for
// either end.
void add_end(json::Array& conditions, Phase phase, const Text& text, Time now) {
  add(conditions, "Finished", text, now);
  add(conditions, to_string(phase), text, now);
}

void set_conditions(json::Array& conditions, const Texts& texts, const plan::Plan& plan,
                    const plan::Verdict& verdict, Time now) {
  const plan::JobRef& job = plan.job;
  if (conditions.empty()) add(conditions, "Created", texts.created(job), now);
  const auto& cause = verdict.cause ? verdict.cause : verdict.ledger.cause;
  const bool goes_on = verdict.phase != Phase::Suspended && !is_terminal(verdict.phase);
  if (goes_on && is_true(conditions, "Suspended")) {
    add(conditions, "Suspended", texts.resumed(job), now, false);
  }
  switch (verdict.phase) {
    case Phase::Created:
      break;
    case Phase::Running:
      add(conditions, "Running", texts.running(job), now);
      break;
    case Phase::Restarting:
      add(conditions, "Restarting", texts.restarting(job, cause), now);
      break;
    case Phase::Suspended:
      add(conditions, "Suspended", texts.suspended(job), now);
      break;
    case Phase::Succeeded:
      add_end(conditions, verdict.phase, texts.succeeded(job), now);
      break;
    case Phase::Failed:
      add_end(conditions, verdict.phase, texts.failed(job, cause), now);
      break;
  }
}

json::Value replica_statuses(const plan::Plan& plan, const plan::Verdict& verdict) {
  json::Object out;
  for (const auto& role : plan.roles) {
    const auto found = verdict.counts.find(role.name);
    const auto count = found == verdict.counts.end() ? plan::RoleCount{} : found->second;
    out.set(role.name, json::Object{{"active", count.active},
                                    {"succeeded", count.succeeded},
                                    {"failed", count.failed}});
  }
  return out;
}

}  // namespace

json::Value make_status(const Texts& texts, const plan::Plan& plan, const json::Value& stored,
                        const plan::Verdict& verdict, Time now) {
  json::Value status = stored.is_object() ? stored : json::Value(json::Object{});
  json::Array conditions = read_conditions(stored);
  set_conditions(conditions, texts, plan, verdict, now);
  tell_waiting(conditions, to_string(verdict.phase), verdict.waiting_for, now);
  status["conditions"] = std::move(conditions);
  const plan::Ledger& ledger = verdict.ledger;
  if (ledger.start_time) status["startTime"] = format_time(*ledger.start_time);
  if (ledger.completion_time) status["completionTime"] = format_time(*ledger.completion_time);
  if (!plan.roles.empty()) {
    status["replicaStatuses"] = replica_statuses(plan, verdict);
  } else if (!stored["replicaStatuses"].is_object()) {
    status["replicaStatuses"] = json::Object{};
  }
  return status;
}

plan::StoredPhase phase_of(const json::Value& status) {
  constexpr std::array kFromTheEnd = {Phase::Succeeded,  Phase::Failed,  Phase::Suspended,
                                      Phase::Restarting, Phase::Running, Phase::Created};
  const auto started = api::time_at(status["startTime"]);
  const json::Array conditions = read_conditions(status);
  for (const Phase phase : kFromTheEnd) {
    for (const auto& condition : conditions) {
      if (condition["type"].as_string() != to_string(phase)) continue;
      if (condition["status"].as_string() != "True") continue;
      return {.phase = phase,
              .reason = condition["reason"].as_string(),
              .message = condition["message"].as_string(),
              .started = started};
    }
  }
  return {.started = started};
}

}  // namespace muster::dialects::kubeflow
