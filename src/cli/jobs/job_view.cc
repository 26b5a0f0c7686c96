#include "cli/jobs/job_view.h"

#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/context.h"

namespace muster::cli {
namespace {

using plan::CauseKind;

std::string ended_how(const plan::Cause& cause) {
  if (!cause.exit_code) return cause.reason.empty() ? "ended" : cause.reason;
  const int code = *cause.exit_code;
  if (cause.reason == "OOMKilled") return "out of memory (OOMKilled, exit 137)";
  if (code > 128 && code < 128 + 65) {
    const char* name = ::sigabbrev_np(code - 128);
    return fmt::format("killed by signal {} (SIG{})", code - 128, name == nullptr ? "?" : name);
  }
  if (code == 127) return "exit 127: command not found";
  if (code == 126) return "exit 126: command cannot be executed";
  return fmt::format("exit {}", code);
}

}  // namespace

JobView JobView::from(const json::Value& job, const plan::Dialect& dialect) {
  JobView view;
  const json::Value& status = job["status"];
  view.ledger = plan::Ledger::from_json(status["muster"]);
  const auto& conditions = status["conditions"].as_array();
  view.state = conditions.empty() ? "Pending" : conditions.back()["type"].as_string();
  if (view.state == "Created") view.state = "Pending";
  if (!conditions.empty()) {
    view.reason = conditions.back()["reason"].as_string();
    view.message = conditions.back()["message"].as_string();
  }
  view.finished = view.state == "Succeeded" || view.state == "Failed";
  for (const auto& [role, count] : status["replicaStatuses"].as_object()) {
    view.ranks_ready += static_cast<int>(count["active"].as_int() + count["succeeded"].as_int());
  }
  view.restarts = view.ledger.restarts();
  if (const auto plan = dialect.compile(job)) view.ranks = plan->total_replicas();
  return view;
}

int exit_code_for(const JobView& job) {
  if (job.state == "Succeeded") return exit_code::kOk;
  const auto& cause = job.ledger.cause;
  if (!cause) return exit_code::kFailed;
  switch (cause->kind) {
    case CauseKind::Deadline:
      return exit_code::kTimeout;
    case CauseKind::InvalidSpec:
    case CauseKind::ForeignObject:
    case CauseKind::Rejected:
      return exit_code::kOurs;
    case CauseKind::PodFailed:
    case CauseKind::BackoffLimit:
      return cause->exit_code.value_or(exit_code::kFailed);
  }
  return exit_code::kFailed;
}

std::string root_cause(const JobView& job, const std::string& name) {
  if (job.state != "Failed") return {};
  const auto& cause = job.ledger.cause;
  if (!cause) return fmt::format("  root cause  {}\n", printable(job.message));
  std::string out;
  if (!cause->pod.empty()) {
    out += fmt::format("  root cause  {} {} · pod {} · {}\n", cause->role, cause->index, cause->pod,
                       ended_how(*cause));
  } else {
    out += fmt::format("  root cause  {}\n",
                       printable(cause->text.empty() ? job.message : cause->text));
  }
  if (!cause->pod.empty() && !cause->text.empty())
    out += fmt::format("              {}\n", printable(cause->text));
  if (cause->kind == CauseKind::BackoffLimit) out += "  limit       backoffLimit reached\n";
  if (!cause->role.empty()) {
    out += fmt::format("  logs        muster logs {} --role {} --rank {}\n", name, cause->role,
                       cause->index);
  }
  return out;
}

}  // namespace muster::cli
