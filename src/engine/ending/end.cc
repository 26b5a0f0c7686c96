#include "engine/ending/end.h"

#include <algorithm>

#include "engine/ending/deadline.h"
#include "engine/notes.h"

namespace muster::engine {

Time stored_precision(Time now) {
  return std::chrono::floor<std::chrono::microseconds>(now);
}

void wake_no_later_than(Decision& decision, Time at) {
  decision.wake_at = decision.wake_at ? std::min(*decision.wake_at, at) : at;
}

Decision keep(const Observed& observed) {
  Decision decision;
  decision.verdict = {.phase = observed.ledger.phase,
                      .counts = observed.ledger.final_counts,
                      .cause = observed.ledger.cause,
                      .remark = observed.ledger.remark,
                      .leaving = observed.deleting,
                      .ledger = observed.ledger};
  return decision;
}

void expire(const plan::Ledger& ledger, Time now, Decision& decision) {
  const auto due = expiry_of(ledger);
  if (!due) return;
  if (now < *due) {
    wake_no_later_than(decision, *due);
  } else {
    decision.wave.emplace_back(DeleteJob{.reason = Reason::Expired});
  }
}

void end(Decision& decision, plan::Phase phase, const std::optional<plan::Cause>& cause, Time now) {
  plan::Verdict& verdict = decision.verdict;
  plan::Ledger& ledger = verdict.ledger;
  ledger.phase = phase;
  ledger.cause = cause;
  ledger.completion_time = now;
  ledger.final_counts = verdict.counts;
  for (auto& [name, count] : ledger.final_counts) count.living = count.ready = count.leaving = 0;
  for (auto& [name, role] : ledger.roles) {
    role.recovering.clear();
    role.not_before.clear();
    role.seen.clear();
    role.pause_until.reset();
  }
  verdict.phase = phase;
  verdict.cause = cause;
  decision.commit_first = true;
  note_end(phase, cause, decision.notes);
}

}  // namespace muster::engine
