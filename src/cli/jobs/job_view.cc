#include "cli/jobs/job_view.h"

#include <csignal>
#include <cstring>
#include <optional>

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

// "3/4"
struct RanksShown {
  int ready = 0;
  int all = 0;
};

std::optional<RanksShown> ranks_shown(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto ready = parse_int(text.substr(0, slash));
  const auto all = parse_int(text.substr(slash + 1));
  if (!ready || !all) return std::nullopt;
  return RanksShown{.ready = static_cast<int>(*ready), .all = static_cast<int>(*all)};
}

}  // namespace

JobView JobView::from(const json::Value& job, const plan::Dialect& dialect) {
  const json::Value& status = job["status"];
  const json::Value& ours = status[plan::kStatusKey];
  const plan::StoredPhase stored = dialect.phase_of(status);
  JobView view{.phase = stored.phase,
               .reason = stored.reason,
               .message = stored.message,
               .ledger = plan::Ledger::from_json(ours)};
  view.restarts = view.ledger.restarts();
  if (const auto shown = ranks_shown(ours["ranks"].as_string())) {
    view.ranks_ready = shown->ready;
    view.ranks = shown->all;
  } else if (const auto plan = dialect.compile(job)) {
    view.ranks = plan->total_replicas();  // nobody has looked at it yet
  }
  return view;
}

std::string_view JobView::state() const {
  return phase == plan::Phase::Created ? "Pending" : to_string(phase);
}

int exit_code_for(const JobView& job) {
  if (job.phase == plan::Phase::Succeeded) return exit_code::kOk;
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
  if (job.phase != plan::Phase::Failed) return {};
  const auto& cause = job.ledger.cause;
  if (!cause) return fmt::format("  root cause  {}\n", printable(job.message));
  std::string out;
  if (!cause->pod.empty()) {
    const auto rank = cause->role.empty() ? "" : fmt::format("{} {} · ", cause->role, cause->index);
    out += fmt::format("  root cause  {}pod {} · {}\n", rank, cause->pod, ended_how(*cause));
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
