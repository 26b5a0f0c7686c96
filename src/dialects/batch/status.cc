#include "dialects/batch/status.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/event.h"

namespace muster::dialects::batch {
namespace {

using plan::CauseKind;
using plan::Phase;

struct Text {
  std::string reason;
  std::string message;
};

Text failure_text(const std::optional<plan::Cause>& cause) {
  const plan::Cause known = cause.value_or(plan::Cause{});
  switch (known.kind) {
    case CauseKind::Deadline:
      return {"DeadlineExceeded", "Job was active longer than specified deadline"};
    case CauseKind::InvalidSpec:
      return {"InvalidSpec", api::event_message(known.text)};
    case CauseKind::ForeignObject:
    case CauseKind::Rejected:
      return {"FailedCreate", api::event_message(known.text)};
    case CauseKind::BackoffLimit:
    case CauseKind::PodFailed:
      break;
  }
  return {"BackoffLimitExceeded", "Job has reached the specified backoff limit"};
}

json::Value* find(json::Array& conditions, std::string_view type) {
  const auto found = std::ranges::find_if(conditions, [&](const json::Value& condition) {
    return condition["type"].as_string() == type;
  });
  return found == conditions.end() ? nullptr : &*found;
}

const json::Value* true_condition(const json::Value& status, std::string_view type) {
  for (const json::Value& condition : status["conditions"].as_array()) {
    if (condition["type"].as_string() == type && condition["status"].as_string() == "True")
      return &condition;
  }
  return nullptr;
}

// One of each type, where it was first written; nothing when it says so already.
void set_condition(json::Array& conditions, std::string_view type, bool status, const Text& text,
                   Time now) {
  const std::string_view word = status ? "True" : "False";
  json::Value* known = find(conditions, type);
  if (known != nullptr && (*known)["status"] == word && (*known)["reason"] == text.reason) return;
  const std::string time = format_time(now);
  json::Value made = json::Object{{"type", type},          {"status", word},
                                  {"lastProbeTime", time}, {"lastTransitionTime", time},
                                  {"reason", text.reason}, {"message", text.message}};
  if (known != nullptr) {
    *known = std::move(made);
  } else {
    conditions.push_back(std::move(made));
  }
}

Text end_text(const plan::Verdict& verdict) {
  Text text{"CompletionsReached", "Reached expected number of succeeded pods"};
  if (verdict.phase == Phase::Failed) text = failure_text(verdict.cause);
  if (!verdict.remark.empty()) text.message += "; " + verdict.remark;
  return text;
}

// The end is announced when it is decided, and said when the last pod is gone.
void set_end(json::Array& conditions, const plan::Verdict& verdict, const StatusForm& form,
             bool all_gone, Time now) {
  const bool success = verdict.phase == Phase::Succeeded;
  const Text text = end_text(verdict);
  if (form.in_brief) now = verdict.ledger.completion_time.value_or(now);
  if (!form.in_brief)
    set_condition(conditions, success ? "SuccessCriteriaMet" : "FailureTarget", true, text, now);
  if (form.in_brief || all_gone)
    set_condition(conditions, success ? "Complete" : "Failed", true, text, now);
}

void set_conditions(json::Array& conditions, const plan::Verdict& verdict, const StatusForm& form,
                    bool all_gone, Time now) {
  switch (verdict.phase) {
    case Phase::Succeeded:
    case Phase::Failed:
      set_end(conditions, verdict, form, all_gone, now);
      break;
    case Phase::Suspended:
      set_condition(conditions, "Suspended", true, {"JobSuspended", "Job suspended"}, now);
      break;
    case Phase::Created:
    case Phase::Running:
    case Phase::Restarting:
      if (find(conditions, "Suspended") != nullptr)
        set_condition(conditions, "Suspended", false, {"JobResumed", "Job resumed"}, now);
  }
}

// A count that is 0 is left out.
void set_count(json::Value& status, std::string_view key, int count) {
  if (count > 0) {
    status[key] = count;
  } else {
    status.object().erase(key);
  }
}

void set_counts(json::Value& status, const plan::Plan& plan, const StatusForm& form,
                const plan::Verdict& verdict) {
  const std::string role(form.role);
  const auto found = verdict.counts.find(role);
  const plan::RoleCount count = found == verdict.counts.end() ? plan::RoleCount{} : found->second;
  set_count(status, "active", count.living);
  set_count(status, "succeeded", count.succeeded);
  set_count(status, "failed", count.failed);
  if (form.in_brief) return;
  status["ready"] = count.ready;
  status["terminating"] = count.leaving;
  status["uncountedTerminatedPods"] = json::Object{};
  const auto known = verdict.ledger.roles.find(role);
  if (!form.indexed || known == verdict.ledger.roles.end()) return;
  const std::string completed = index_text(known->second.done, plan.roles.front().replicas);
  if (!completed.empty()) status["completedIndexes"] = completed;
}

void set_times(json::Value& status, const plan::Verdict& verdict, bool end_is_said) {
  const plan::Ledger& ledger = verdict.ledger;
  if (verdict.phase == Phase::Suspended) {
    status.object().erase("startTime");
  } else if (ledger.start_time) {
    status["startTime"] = format_time(*ledger.start_time);
  }
  if (verdict.phase == Phase::Succeeded && end_is_said && ledger.completion_time)
    status["completionTime"] = format_time(*ledger.completion_time);
}

plan::EventText event(bool warning, std::string reason, std::string_view message) {
  return {.warning = warning, .reason = std::move(reason), .message = api::event_message(message)};
}

std::string completions_cell(const json::Value& job) {
  const auto succeeded = job["status"]["succeeded"].as_int();
  if (job["spec"]["completions"].is_int())
    return fmt::format("{}/{}", succeeded, job["spec"]["completions"].as_int());
  const auto parallelism = job["spec"]["parallelism"].as_int();
  return parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism)
                         : fmt::format("{}/1", succeeded);
}

std::string duration_cell(const json::Value& status, Time now) {
  const auto start = parse_time(status["startTime"].as_string());
  if (!start) return "";
  const auto end = parse_time(status["completionTime"].as_string());
  return format_age(std::max((end ? *end : now) - *start, Duration::zero()));
}

std::string status_cell(const json::Value& job) {
  for (const std::string_view end : {"Complete", "Failed"}) {
    if (true_condition(job["status"], end) != nullptr) return std::string(end);
  }
  if (!job["metadata"]["deletionTimestamp"].is_null()) return "Terminating";
  for (const std::string_view type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (true_condition(job["status"], type) != nullptr) return std::string(type);
  }
  return "Running";
}

}  // namespace

json::Value make_status(const plan::Plan& plan, const StatusForm& form, const json::Value& stored,
                        const plan::Verdict& verdict, Time now) {
  json::Value status = stored.is_object() ? stored : json::Value(json::Object{});
  bool all_gone = true;
  for (const auto& [role, count] : verdict.counts)
    all_gone = all_gone && count.living == 0 && count.leaving == 0;
  json::Array conditions = stored["conditions"].as_array();
  set_conditions(conditions, verdict, form, all_gone, now);
  if (!conditions.empty()) status["conditions"] = std::move(conditions);
  // A Job whose edit is invalid keeps the counts that it had.
  if (!plan.roles.empty()) set_counts(status, plan, form, verdict);
  set_times(status, verdict, form.in_brief || all_gone);
  return status;
}

plan::StoredPhase phase_of(const json::Value& status) {
  constexpr std::pair<std::string_view, Phase> kPhases[] = {
      {"Complete", Phase::Succeeded}, {"Failed", Phase::Failed}, {"Suspended", Phase::Suspended}};
  for (const auto& [type, phase] : kPhases) {
    const json::Value* condition = true_condition(status, type);
    if (condition == nullptr) continue;
    return {.phase = phase,
            .reason = (*condition)["reason"].as_string(),
            .message = (*condition)["message"].as_string()};
  }
  return {.phase = status["active"].as_int() > 0 ? Phase::Running : Phase::Created};
}

std::optional<plan::EventText> event_for(const plan::Note& note) {
  using Kind = plan::Note::Kind;
  switch (note.kind) {
    case Kind::PodCreated:
      return event(false, "SuccessfulCreate", "Created pod: " + note.subject);
    case Kind::PodsCreated:
      return event(false, "SuccessfulCreate", fmt::format("Created {} pods", note.subject));
    case Kind::PodDeleted:
      return event(false, "SuccessfulDelete", "Deleted pod: " + note.subject);
    case Kind::PodsDeleted:
      return event(false, "SuccessfulDelete", fmt::format("Deleted {} pods", note.subject));
    case Kind::CreateFailed:
      return event(true, "FailedCreate", "Error creating: " + note.detail);
    case Kind::DeleteFailed:
      return event(true, "FailedDelete", "Error deleting: " + note.detail);
    case Kind::Suspended:
      return event(false, "Suspended", "Job suspended");
    case Kind::Resumed:
      return event(false, "Resumed", "Job resumed");
    case Kind::Succeeded:
      return event(false, "Completed", "Job completed");
    case Kind::Failed: {
      const Text text = failure_text(note.cause);
      return event(true, text.reason, text.message);
    }
    case Kind::Warning:
      return event(true, note.reason, note.detail);
    default:
      return std::nullopt;
  }
}

std::string index_text(const plan::IndexSet& indexes, int below) {
  std::string out;
  const std::vector<int> all = indexes.values();
  for (std::size_t at = 0; at < all.size() && all[at] < below;) {
    std::size_t last = at;
    while (last + 1 < all.size() && all[last + 1] == all[last] + 1 && all[last + 1] < below) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(all[at]);
    if (last > at) out += fmt::format("{}{}", last - at > 1 ? '-' : ',', all[last]);
    at = last + 1;
  }
  return out;
}

std::string cell(const json::Value& job, std::string_view column, Time now) {
  if (column == "Status") return status_cell(job);
  if (column == "Completions") return completions_cell(job);
  if (column == "Duration") return duration_cell(job["status"], now);
  return "";
}

}  // namespace muster::dialects::batch
