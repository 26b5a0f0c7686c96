#include "dialects/t9k/status.h"

#include <algorithm>
#include <array>
#include <map>

#include "dialects/t9k/conditions.h"

namespace muster::dialects::t9k {
namespace {

using plan::Phase;
using Stage = plan::RankReport::Stage;

// Two lists of 300 entries of about 250 bytes are 150 kB a role: a status is written often. Whoever
// wants all of 10,000 lists the pods by their labels.
constexpr std::size_t kMostReplicas = 300;

constexpr std::array<std::string_view, 7> kCounters = {
    "creating", "pending", "running", "succeeded", "failed", "unknown", "deleted"};

constexpr auto kFields = std::to_array<Field>({
    {.path = "phase",
     .type = Type::String,
     .doc = "Pending, Running, Paused, Resuming, Succeeded (has ended), Failed or Unknown."},
    {.path = "conditions",
     .type = Type::List,
     .doc = "Initialized, Running, ReplicaFailure, Completed, Failed and Paused. Completed is True "
            "once the job has ended, also when it failed."},
    {.path = "conditions[]",
     .type = Type::Open,
     .doc = "One of them: type, status, reason, message and lastTransitionTime."},
    {.path = "tasks", .type = Type::List, .doc = "The pods, by role."},
    {.path = "tasks[]", .type = Type::Object, .doc = "The pods of one role."},
    {.path = "tasks[].type", .type = Type::String, .doc = "The role."},
    {.path = "tasks[].restartCount",
     .type = Type::Int64,
     .doc = "How often its containers were restarted and its pods made anew, in all."},
    {.path = "tasks[].replicas",
     .type = Type::List,
     .doc = "Its pods, of a large role the first 300: name, uid, phase and containers."},
    {.path = "tasks[].replicas[]", .type = Type::Open, .doc = "One pod."},
    {.path = "tasks[].status",
     .type = Type::List,
     .doc = "The same as replicas, for those who read it under this name."},
    {.path = "tasks[].status[]", .type = Type::Open, .doc = "One pod."},
    {.path = "aggregate", .type = Type::Object, .doc = "How many pods are in which phase."},
    {.path = "aggregate.creating", .type = Type::Int32, .doc = "Pods that are yet to be made."},
    {.path = "aggregate.pending", .type = Type::Int32, .doc = "Pods that do not run yet."},
    {.path = "aggregate.running", .type = Type::Int32, .doc = "Pods that run."},
    {.path = "aggregate.succeeded", .type = Type::Int32, .doc = "Pods that succeeded."},
    {.path = "aggregate.failed", .type = Type::Int32, .doc = "Pods that failed."},
    {.path = "aggregate.unknown",
     .type = Type::Int32,
     .doc = "Pods of whose node nobody has heard."},
    {.path = "aggregate.deleted",
     .type = Type::Int32,
     .doc = "Pods that were deleted, by a pause or after the end."},
});

std::string_view phase_word(Stage stage) {
  switch (stage) {
    case Stage::Pending:
    case Stage::Starting:
      return "Pending";
    case Stage::Running:
      return "Running";
    case Stage::Succeeded:
      return "Succeeded";
    case Stage::Failed:
      return "Failed";
    case Stage::Unknown:
      break;
  }
  return "Unknown";
}

std::string_view counter_of(std::string_view phase) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOf = {
      {{"Pending", "pending"},
       {"Running", "running"},
       {"Succeeded", "succeeded"},
       {"Failed", "failed"},
       {"Unknown", "unknown"},
       {"Deleted", "deleted"}}};
  const auto found =
      std::ranges::find(kOf, phase, &std::pair<std::string_view, std::string_view>::first);
  return found == kOf.end() ? "creating" : found->second;
}

// After the end the pods of a role go, or stay as they are.
bool goes_at_the_end(const plan::Role& role, const plan::Verdict& verdict) {
  if (!is_terminal(verdict.phase)) return false;
  const bool success = verdict.phase == Phase::Succeeded;
  return (success ? role.on_success : role.on_failure) == plan::CleanUp::All;
}

json::Value containers_of(const plan::RankReport& rank) {
  json::Array out;
  for (const plan::ContainerReport& container : rank.containers) {
    json::Object entry{{"name", container.name}, {"state", container.state}};
    if (container.exit_code) entry.set("exitCode", *container.exit_code);
    out.emplace_back(std::move(entry));
  }
  return out;
}

// What is said of the pods of one role.
struct Task {
  json::Array replicas;
  std::map<std::string_view, int> counters;
};

Task task_of(const plan::Role& role, const plan::Verdict& verdict) {
  Task out;
  const bool gone = goes_at_the_end(role, verdict);
  int seen = 0;
  for (const plan::RankReport& rank : verdict.ranks) {
    if (rank.role != role.name) continue;
    const std::string_view phase = gone ? "Deleted" : phase_word(rank.stage);
    ++out.counters[counter_of(phase)];
    if (++seen > static_cast<int>(kMostReplicas)) continue;
    out.replicas.push_back(json::Object{{"name", rank.pod},
                                        {"uid", rank.uid},
                                        {"phase", phase},
                                        {"containers", containers_of(rank)}});
  }
  const bool none_to_come = verdict.phase == Phase::Suspended || is_terminal(verdict.phase);
  out.counters[none_to_come ? "deleted" : "creating"] += role.replicas - seen;
  return out;
}

void set_tasks(const plan::Plan& plan, const plan::Verdict& verdict, json::Value& status) {
  json::Array tasks;
  std::map<std::string_view, int> sums;
  for (const plan::Role& role : plan.roles) {
    Task task = task_of(role, verdict);
    for (const auto& [counter, count] : task.counters) sums[counter] += count;
    const auto found = verdict.counts.find(role.name);
    tasks.push_back(
        json::Object{{"type", role.name},
                     {"restartCount", found == verdict.counts.end() ? 0 : found->second.restarts},
                     {"replicas", task.replicas},
                     {"status", task.replicas}});
  }
  status["tasks"] = std::move(tasks);
  json::Object aggregate;
  for (const std::string_view counter : kCounters) aggregate.set(counter, sums[counter]);
  status["aggregate"] = std::move(aggregate);
}

// Who decides about the end is on a node that nobody hears of: nobody knows.
bool is_unknown(std::string_view decides, const plan::Verdict& verdict) {
  return std::ranges::any_of(verdict.ranks, [&](const plan::RankReport& rank) {
    return rank.role == decides && rank.stage == Stage::Unknown;
  });
}

std::string_view phase_text(std::string_view decides, const plan::Verdict& verdict) {
  switch (verdict.phase) {
    case Phase::Succeeded:
      return "Succeeded";
    case Phase::Failed:
      return "Failed";
    case Phase::Suspended:
      return "Paused";
    case Phase::Created:
    case Phase::Running:
    case Phase::Restarting:
      break;
  }
  if (is_unknown(decides, verdict)) return "Unknown";
  if (verdict.phase != Phase::Created) return "Running";
  return verdict.ledger.is_resuming() ? "Resuming" : "Pending";
}

}  // namespace

std::span<const Field> status_fields() {
  return kFields;
}

json::Value make_status(const plan::Plan& plan, std::string_view decides, const json::Value& stored,
                        const plan::Verdict& verdict, Time now) {
  json::Value status = stored.is_object() ? stored : json::Value(json::Object{});
  status["conditions"] = make_conditions(plan, stored, verdict, now);
  // A job whose edit is invalid has no plan: it is what it was.
  const bool frozen = plan.roles.empty() && !is_terminal(verdict.phase);
  if (!frozen || stored["phase"].is_null()) status["phase"] = phase_text(decides, verdict);
  // After the end nobody looks at pods any more: they stay as they were.
  const bool seen = !is_terminal(verdict.phase) || !verdict.ranks.empty();
  if (!plan.roles.empty() && seen && !verdict.leaving) set_tasks(plan, verdict, status);
  return status;
}

plan::StoredPhase phase_of(const json::Value& status) {
  const std::string& phase = status["phase"].as_string();
  const auto text_of = [&](Phase known, std::string_view type) {
    plan::StoredPhase out{.phase = known};
    for (const json::Value& condition : status["conditions"].as_array()) {
      if (condition["type"].as_string() != type) continue;
      out.reason = condition["reason"].as_string();
      out.message = condition["message"].as_string();
    }
    return out;
  };
  if (phase == "Succeeded") return text_of(Phase::Succeeded, "Completed");
  if (phase == "Failed") return text_of(Phase::Failed, "Failed");
  if (phase == "Paused") return text_of(Phase::Suspended, "Paused");
  if (phase == "Running" || phase == "Unknown") return text_of(Phase::Running, "Running");
  return {};
}

}  // namespace muster::dialects::t9k
