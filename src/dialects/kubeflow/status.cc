#include "dialects/mindspore_status.h"

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "dialects/conditions.h"
#include "dialects/mindspore_fields.h"
#include "dialects/mindspore_plan.h"
#include "dialects/mindspore_words.h"

namespace muster::dialects::mindspore {
namespace {

using plan::Phase;

// Stored by us or by others: whatever is no condition is dropped.
json::Array read_conditions(const json::Value& status) {
  json::Array conditions = status["conditions"].as_array();
  std::erase_if(conditions,
                [](const json::Value& condition) { return condition["type"].as_string().empty(); });
  return conditions;
}

void add(json::Array& conditions, std::string_view type, Words words, Time now) {
  set_condition(
      conditions,
      {.type = type, .reason = std::move(words.reason), .message = std::move(words.message)}, now);
}

// The end is announced under its own name and, just before, as Finished, for those who wait for
// either end.
void add_end(json::Array& conditions, Phase phase, const Words& words, Time now) {
  add(conditions, "Finished", words, now);
  add(conditions, to_string(phase), words, now);
}

void set_conditions(json::Array& conditions, const plan::Plan& plan, const plan::Verdict& verdict,
                    Time now) {
  if (conditions.empty()) add(conditions, "Created", created_words(plan.job), now);
  const auto& cause = verdict.cause ? verdict.cause : verdict.ledger.cause;
  switch (verdict.phase) {
    case Phase::Created:
      break;
    case Phase::Running:
      add(conditions, "Running", running_words(plan.job), now);
      break;
    case Phase::Restarting:
      add(conditions, "Restarting", restarting_words(plan.job, cause), now);
      break;
    case Phase::Succeeded:
      add_end(conditions, verdict.phase, succeeded_words(plan.job), now);
      break;
    case Phase::Failed:
      add_end(conditions, verdict.phase, failed_words(plan.job, cause), now);
      break;
  }
}

// After the end the counts are those of the end: clean-up removes what they were counted from.
// Pods that ran when the job succeeded did their part.
plan::Counts shown_counts(const plan::Verdict& verdict) {
  const bool kept = is_terminal(verdict.phase) && !verdict.ledger.final_counts.empty();
  plan::Counts counts = kept ? verdict.ledger.final_counts : verdict.counts;
  if (verdict.phase != Phase::Succeeded) return counts;
  for (auto& [role, count] : counts) {
    count.succeeded += count.active;
    count.active = 0;
  }
  return counts;
}

json::Value replica_statuses(const plan::Plan& plan, const plan::Counts& counts) {
  json::Object out;
  for (const auto& role : plan.roles) {
    const auto found = counts.find(role.name);
    const auto count = found == counts.end() ? plan::RoleCount{} : found->second;
    out.set(role.name, json::Object{{"active", count.active},
                                    {"succeeded", count.succeeded},
                                    {"failed", count.failed}});
  }
  return out;
}

// The ledger, and what the printed columns and the scale subresource read.
json::Value muster_status(const plan::Plan& plan, const plan::Verdict& verdict,
                          const plan::Counts& counts) {
  json::Value out = verdict.ledger.to_json();
  int up = 0;
  std::int64_t restarts = 0;
  for (const auto& [role, count] : counts) {
    up += count.active + count.succeeded;
    restarts += count.restarts;
  }
  out["ranks"] = fmt::format("{}/{}", up, plan.total_replicas());
  out["restartCount"] = restarts;
  out["selector"] = fmt::format(
      "training.kubeflow.org/job-name={},training.kubeflow.org/replica-type=worker", plan.job.name);
  if (!verdict.waiting_for.empty()) out["waitingFor"] = printable(verdict.waiting_for);
  return out;
}

// A job whose edit is invalid has no plan and so no roles: what is shown of them stays as it was.
json::Value frozen_muster_status(const json::Value& old, const plan::Verdict& verdict) {
  json::Value out = verdict.ledger.to_json();
  for (const char* shown : {"ranks", "restartCount", "selector"}) {
    if (!old[shown].is_null()) out[shown] = old[shown];
  }
  if (!verdict.waiting_for.empty()) out["waitingFor"] = printable(verdict.waiting_for);
  return out;
}

void set_times(json::Value& status, const plan::Ledger& ledger) {
  if (ledger.start_time) status["startTime"] = format_time(*ledger.start_time);
  if (ledger.completion_time) status["completionTime"] = format_time(*ledger.completion_time);
}

json::Value copy_of(const json::Value& status) {
  return status.is_object() ? status : json::Value(json::Object{});
}

}  // namespace

json::Value make_status(const plan::Plan& plan, const json::Value& old,
                        const plan::Verdict& verdict, Time now) {
  json::Value status = copy_of(old);
  json::Array conditions = read_conditions(old);
  set_conditions(conditions, plan, verdict, now);
  status["conditions"] = std::move(conditions);
  set_times(status, verdict.ledger);
  if (plan.roles.empty()) {
    status["muster"] = frozen_muster_status(old["muster"], verdict);
    return status;
  }
  const auto counts = shown_counts(verdict);
  status["replicaStatuses"] = replica_statuses(plan, counts);
  status["muster"] = muster_status(plan, verdict, counts);
  return status;
}

json::Value make_invalid_status(const json::Value& job, const Error& error, Time now) {
  const auto& old = job["status"];
  json::Array conditions = read_conditions(old);
  if (is_over(conditions)) return old;
  const plan::JobRef ref = job_ref(job);
  plan::Ledger ledger = plan::Ledger::from_json(old["muster"]);
  ledger.phase = Phase::Failed;
  ledger.observed_generation = ref.generation;
  ledger.completion_time = now;
  ledger.cause =
      plan::Cause{.kind = plan::CauseKind::InvalidSpec, .text = error.message, .at = now};

  json::Value status = copy_of(old);
  if (conditions.empty()) add(conditions, "Created", created_words(ref), now);
  add_end(conditions, Phase::Failed, failed_words(ref, ledger.cause), now);
  ledger.cause->text = failed_words(ref, ledger.cause).message;  // printable and bounded
  status["conditions"] = std::move(conditions);
  if (!old["replicaStatuses"].is_object()) status["replicaStatuses"] = json::Object{};
  set_times(status, ledger);
  status["muster"] = ledger.to_json();
  return status;
}

}  // namespace muster::dialects::mindspore
