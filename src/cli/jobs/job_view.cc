#include "cli/jobs/job_view.h"

#include <algorithm>
#include <optional>

#include "api/pod.h"
#include "base/strings.h"
#include "cli/context.h"

namespace muster::cli {
namespace {

using plan::CauseKind;

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

bool is_crash_looping(const json::Value& pod) {
  return std::ranges::any_of(
      pod["status"]["containerStatuses"].as_array(), [](const json::Value& status) {
        return status["state"]["waiting"]["reason"].as_string() == "CrashLoopBackOff";
      });
}

bool is_up(const json::Value& pod) {
  const api::PodPhase phase = api::phase_of(pod);
  return phase == api::PodPhase::Running || phase == api::PodPhase::Succeeded;
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

void JobView::see(const std::vector<cluster::ObjectPtr>& pods) {
  if (finished()) return;
  int up = 0;
  std::int64_t restarted = 0;
  for (const auto& pod : pods) {
    if (api::is_deleting(*pod)) continue;
    const bool crashed = is_crash_looping(*pod);
    crash_loops = crash_loops || crashed;
    if (!crashed && is_up(*pod)) ++up;
    restarted += api::restarts_of(*pod);
  }
  ranks_ready = std::min(up, ranks);
  restarts = std::max(restarts, restarted);
  if (phase == plan::Phase::Created && ranks > 0 && ranks_ready == ranks)
    phase = plan::Phase::Running;
}

std::string_view JobView::state() const {
  if (crash_loops && !finished()) return "CrashLoopBackOff";
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
      break;
  }
  // A pod that is evicted fails, however well its containers took it.
  const int code = cause->exit_code.value_or(exit_code::kFailed);
  return code == exit_code::kOk ? exit_code::kFailed : code;
}

}  // namespace muster::cli
