#include "engine/decide.h"

#include <algorithm>

#include "engine/backoff.h"
#include "engine/blocked.h"
#include "engine/census.h"
#include "engine/children.h"
#include "engine/ending/cleanup.h"
#include "engine/ending/deadline.h"
#include "engine/ending/end.h"
#include "engine/ending/outcome.h"
#include "engine/ending/remark.h"
#include "engine/hold.h"
#include "engine/notes.h"
#include "engine/refusals.h"
#include "engine/remember.h"
#include "engine/retry.h"
#include "engine/scale.h"

namespace muster::engine {
namespace {

using plan::Cause;
using plan::CauseKind;
using plan::Note;
using plan::Phase;

constexpr Duration kQuotaRetry = std::chrono::seconds(5);

// One decision in the making. Each step reads what the steps before it left in `decision`.
class Decider {
 public:
  Decider(const plan::Plan& plan, const Observed& observed, Time now)
      : plan_(plan), observed_(observed), now_(now), children_(observed.objects, observed.secrets) {
    decision_.verdict.ledger = observed.ledger;
    refusals_ = weigh(observed.refusals);
  }

  Decision decide() && {
    begin();
    const Census census(plan_, observed_.pods, ledger());
    remembered_ = remember(plan_, census, ledger(), now_);
    decision_.commit_first |= remembered_.store_first;
    forget_recovered(ledger(), census, plan_);
    counts() = count(plan_, census);
    settle_restarts(ledger(), counts());
    count_remembered(plan_, census, ledger(), counts());
    count_living(plan_, observed_.pods, counts());
    if (plan_.reports_ranks) decision_.verdict.ranks = report(census);
    if (may_end() && end_if_over(census)) return std::move(decision_);
    plan_.hold ? suspend(census) : go_on(census);
    return std::move(decision_);
  }

 private:
  plan::Ledger& ledger() { return decision_.verdict.ledger; }
  plan::Counts& counts() { return decision_.verdict.counts; }

  // The start needs no storing before the first wave: should it get lost in a crash, what the wave
  // made is found, and the job has started a little later.
  void begin() {
    if (!ledger().start_time) {
      for (const plan::Warning& warning : plan_.warnings) {
        decision_.notes.push_back(
            {.kind = Note::Kind::Warning, .reason = warning.reason, .detail = warning.message});
      }
    }
    ledger().observed_generation = plan_.job.generation;
    ledger().limits = plan_.limits;
    ledger().fixed.insert(plan_.fixed.begin(), plan_.fixed.end());
    const EpochChange change = enter_epoch(plan_, ledger(), now_);
    if (change != EpochChange::None) decision_.commit_first = true;
    if (const auto note = epoch_note(change, plan_)) {
      decision_.notes.push_back(*note);
      children_.forget_secrets();
    }
    if (!ledger().start_time && !plan_.hold)
      ledger().start_time = stored_precision(observed_.first_look.value_or(now_));
  }

  // While a job is held nothing of it counts, unless its roles remember.
  [[nodiscard]] bool may_end() const {
    return !plan_.hold || std::ranges::any_of(plan_.roles, &plan::Role::remembers);
  }

  // Every pod is of an older epoch, so all of them go, but for what has ended and is remembered.
  void suspend(const Census& census) {
    retry(newly_failed(census));
    decision_.verdict.phase = ledger().phase;
    remove_surplus_pods(census, ledger(), decision_.wave);
    remove_surplus_objects(plan_, observed_, children_, ledger(), decision_.wave);
  }

  // Success first: what ended well before we looked did not overrun anything.
  bool end_if_over(const Census& census) {
    const auto rules = outcome(plan_, census);
    const bool limits_first = rules != Phase::Succeeded || plan_.tie == plan::Tie::LimitsWin;
    if (limits_first && end_at_a_limit(census)) return true;
    if (rules == Phase::Succeeded) {
      succeed(census);
    } else if (rules == Phase::Failed) {
      over(Phase::Failed, failure_cause(plan_, census), census);
    } else if (refusals_.fatal) {
      refusals_.fatal->at = now_;
      over(Phase::Failed, refusals_.fatal, census);
    } else {
      return false;
    }
    return true;
  }

  bool end_at_a_limit(const Census& census) {
    if (const auto due = deadline_of(ledger()); due && now_ >= *due) {
      over(Phase::Failed, Cause{.kind = CauseKind::Deadline, .at = now_}, census);
      return true;
    }
    if (const auto exhausted = exceeds_backoff(plan_, ledger(), counts(), census)) {
      over(Phase::Failed, blame(exhausted->rank, census), census);
      return true;
    }
    return false;
  }

  // Pods that run when the job has succeeded did their part, unless each rank's own end counts.
  void succeed(const Census& census) {
    for (const plan::Role& role : plan_.roles) {
      if (role.remembers()) continue;
      plan::RoleCount& role_count = counts()[role.name];
      role_count.succeeded += std::exchange(role_count.active, 0);
    }
    over(Phase::Succeeded, std::nullopt, census);
  }

  void over(Phase phase, const std::optional<Cause>& cause, const Census& census) {
    count_stopped(plan_, phase, counts());
    end(decision_, phase, cause, now_);
    remark(census);
    clean_up(plan_, observed_, ledger(), decision_.wave);
    expire(ledger(), now_, decision_);
  }

  // What the ranks say of the end beside their exit codes.
  void remark(const Census& census) {
    const std::string said = remark_of(plan_, census);
    if (said.empty()) return;
    decision_.verdict.remark = ledger().remark = said;
    decision_.notes.push_back(
        {.kind = Note::Kind::Warning, .reason = "IncompleteRun", .detail = said});
  }

  // What will not be tried again has failed, and so has the rank that used up the last try.
  Cause blame(const Rank* rank, const Census& census) {
    for (const Rank& each : census.ranks()) {
      if (each.role->remembers() || (!each.is(RankState::Retryable) && &each != rank)) continue;
      plan::RoleCount& role_count = counts()[each.role->name];
      --(each.is(RankState::Running) ? role_count.active : role_count.pending);
      ++role_count.failed;
    }
    Cause cause;
    if (rank != nullptr) {
      cause = cause_of(*rank);
      cause.failed = counts()[rank->role->name].failed;
    }
    cause.kind = CauseKind::BackoffLimit;
    if (!cause.at) cause.at = now_;
    return cause;
  }

  void go_on(const Census& census) {
    retry(newly_failed(census));
    remove_surplus_pods(census, ledger(), decision_.wave);
    remove_excess(census);
    remove_surplus_objects(plan_, observed_, children_, ledger(), decision_.wave);
    if (!refused()) {
      const Missing missing =
          create_missing(plan_, census, children_, ledger(), now_, decision_.wave);
      if (!missing.waiting_for.empty()) decision_.verdict.waiting_for = missing.waiting_for;
      if (missing.wake_at) wake_no_later_than(decision_, *missing.wake_at);
    }
    settle_phase(census);
    const auto gates = gates_of(plan_, children_, ledger(), now_);
    if (const auto again = note_abnormal(census, gates, decision_.notes)) {
      wake_no_later_than(decision_, *again);
    }
    tell_delay(delay_of(census, gates, now_));
    if (const auto due = deadline_of(ledger())) wake_no_later_than(decision_, *due);
  }

  void tell_delay(Delay delay) {
    if (decision_.verdict.waiting_for.empty())
      decision_.verdict.waiting_for = std::move(delay.text);
    if (delay.look_again) wake_no_later_than(decision_, *delay.look_again);
  }

  // The ledger says why before a pod goes; a crash in between deletes it on the next look.
  void retry(const std::vector<const Rank*>& failed_anew) {
    if (failed_anew.empty()) return;
    decision_.commit_first = true;
    note_exits(failed_anew, decision_.notes);
    if (!ledger().cause) {
      ledger().cause = cause_of(*failed_anew.front());
      decision_.notes.push_back({.kind = Note::Kind::Restarting, .cause = ledger().cause});
    }
    for (const Rank* rank : failed_anew) {
      record_retry(ledger(), *rank, now_);
      ledger().roles[rank->role->name].restarts = ++counts()[rank->role->name].restarts;
      if (rank->role->retry.keep_failed || rank->pod == nullptr || rank->pod->deleting) continue;
      decision_.wave.emplace_back(DeletePod{
          .name = rank->pod->name, .uid = rank->pod->uid, .reason = Reason::ReplaceFailed});
    }
    pause_roles(ledger(), failed_anew, remembered_.last_success, now_);
  }

  // The ledger says that it was us before a pod goes, or its end would count as a loss.
  void remove_excess(const Census& census) {
    for (const Rank* rank : excess(plan_, census)) {
      forget_seen(ledger(), *rank);
      decision_.commit_first = true;
      decision_.wave.emplace_back(
          DeletePod{.name = rank->pod->name, .uid = rank->pod->uid, .reason = Reason::ScaleDown});
    }
  }

  bool refused() {
    if (!refusals_.waiting_for.empty()) {
      decision_.verdict.waiting_for = refusals_.waiting_for;
      wake_no_later_than(decision_, now_ + kQuotaRetry);
    }
    return refusals_.stop || !refusals_.waiting_for.empty();
  }

  // Created until something runs; Restarting while a rank is being replaced; else Running.
  void settle_phase(const Census& census) {
    Phase phase = ledger().phase;
    if (ledger().recovering()) {
      phase = Phase::Restarting;
    } else if (satisfied(plan_.running, plan_, census)) {
      phase = Phase::Running;
    }
    if (phase == Phase::Running) ledger().cause.reset();
    ledger().phase = phase;
    decision_.verdict.phase = phase;
    decision_.verdict.cause = ledger().cause;
  }

  const plan::Plan& plan_;
  const Observed& observed_;
  Time now_;
  Children children_;
  Decision decision_;
  RefusalMeaning refusals_;
  Remembered remembered_;
};

Decision decide_after_the_end(const plan::Plan& plan, const Observed& observed, Time now) {
  Decision decision = keep(observed);
  count_living(plan, observed.pods, decision.verdict.counts);
  clean_up(plan, observed, observed.ledger, decision.wave);
  expire(observed.ledger, now, decision);
  return decision;
}

Decision decide_ranks(const plan::Plan& plan, const Observed& observed, Time now) {
  if (observed.deleting) return keep(observed);
  if (plan::is_terminal(observed.ledger.phase)) return decide_after_the_end(plan, observed, now);
  return Decider(plan, observed, now).decide();
}

}  // namespace

Decision decide(const plan::Plan& plan, const Observed& observed, Time now) {
  now = stored_precision(now);
  Decision decision = decide_ranks(plan, observed, now);
  name_blocked_nodes(plan.job, observed, now, decision);
  return decision;
}

}  // namespace muster::engine
