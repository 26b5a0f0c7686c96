// Decisions about jobs that cannot be compiled.
#include <fmt/format.h>

#include "api/event.h"
#include "engine/blocked.h"
#include "engine/decide.h"
#include "engine/ending/deadline.h"
#include "engine/ending/end.h"

namespace muster::engine {

namespace {

Decision freeze(const plan::JobRef& job, const Observed& observed, Time now) {
  Decision decision = keep(observed);
  if (observed.deleting) return decision;
  if (plan::is_terminal(observed.ledger.phase)) {
    expire(observed.ledger, now, decision);
    return decision;
  }
  decision.verdict.waiting_for = fmt::format("{} to be valid again", job.name);
  const auto due = deadline_of(observed.ledger);
  if (!due) return decision;
  if (now < *due) {
    decision.wake_at = due;
    return decision;
  }
  end(decision, plan::Phase::Failed, plan::Cause{.kind = plan::CauseKind::Deadline, .at = now},
      now);
  // The plan is unknown, so only what certainly runs is stopped: every unfinished pod of ours.
  for (const PodView& pod : observed.pods) {
    if (pod.deleting || api::is_finished(pod.phase)) continue;
    decision.wave.emplace_back(
        DeletePod{.name = pod.name, .uid = pod.uid, .reason = Reason::CleanUp});
  }
  return decision;
}

}  // namespace

Decision decide_frozen(const plan::JobRef& job, const Observed& observed, Time now) {
  now = stored_precision(now);
  Decision decision = freeze(job, observed, now);
  name_blocked_nodes(job, observed, now, decision);
  return decision;
}

Decision decide_invalid(const plan::JobRef& job, const Observed& observed, const Error& error,
                        Time now) {
  now = stored_precision(now);
  Decision decision = keep(observed);
  if (observed.deleting || plan::is_terminal(observed.ledger.phase)) return decision;
  decision.verdict.ledger.observed_generation = job.generation;
  end(decision, plan::Phase::Failed,
      plan::Cause{.kind = plan::CauseKind::InvalidSpec,
                  .text = api::event_message(error.message),
                  .at = now},
      now);
  return decision;
}

}  // namespace muster::engine
