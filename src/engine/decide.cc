#include "engine/decide.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/event.h"
#include "engine/backoff.h"
#include "engine/census.h"
#include "engine/children.h"
#include "engine/cleanup.h"
#include "engine/deadline.h"
#include "engine/hold.h"
#include "engine/outcome.h"
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
// Nobody reads more of a kind at once; what is left out is found again at the next look.
constexpr std::size_t kMostNotes = 10;

void wake_no_later_than(Decision& decision, Time at) {
  decision.wake_at = decision.wake_at ? std::min(*decision.wake_at, at) : at;
}

// The ledger is stored with microseconds; deciding with more would not survive the round trip.
Time stored_precision(Time now) {
  return std::chrono::floor<std::chrono::microseconds>(now);
}

Note exit_note(const Cause& cause) {
  return {.kind = Note::Kind::ContainerExited,
          .object_kind = "Pod",
          .subject = cause.pod,
          .detail = std::to_string(*cause.exit_code)};
}

std::optional<Note::Kind> note_of(EpochChange change) {
  switch (change) {
    case EpochChange::None:
    case EpochChange::Adopted:
      break;
    case EpochChange::Held:
      return Note::Kind::Suspended;
    case EpochChange::Resumed:
      return Note::Kind::Resumed;
    case EpochChange::Renewed:
      return Note::Kind::Renewed;
  }
  return std::nullopt;
}

// Nothing to do, nothing to say: the verdict repeats what is stored.
Decision keep(const Observed& observed) {
  Decision decision;
  decision.verdict = {.phase = observed.ledger.phase,
                      .counts = observed.ledger.final_counts,
                      .cause = observed.ledger.cause,
                      .leaving = observed.deleting,
                      .ledger = observed.ledger};
  return decision;
}

// The job itself, once its time after the end is over; until then, when to look again.
void expire(const plan::Ledger& ledger, Time now, Decision& decision) {
  const auto due = expiry_of(ledger);
  if (!due) return;
  if (now < *due) {
    wake_no_later_than(decision, *due);
  } else {
    decision.wave.emplace_back(DeleteJob{.reason = Reason::Expired});
  }
}

// A terminal verdict. It is stored before clean-up removes what it was read from.
void end(Decision& decision, Phase phase, std::optional<Cause> cause, Time now) {
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
  if (cause && cause->exit_code) decision.notes.push_back(exit_note(*cause));
  decision.notes.push_back(
      {.kind = phase == Phase::Succeeded ? Note::Kind::Succeeded : Note::Kind::Failed,
       .cause = std::move(cause)});
}

// One decision in the making. Each step reads what the steps before it left in `decision`.
class Decider {
 public:
  Decider(const plan::Plan& plan, const Observed& observed, Time now)
      : plan_(plan), observed_(observed), now_(now), children_(observed.objects) {
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
    const EpochChange change = enter_epoch(plan_, ledger(), now_);
    if (change != EpochChange::None) decision_.commit_first = true;
    if (const auto kind = note_of(change)) {
      decision_.notes.push_back({.kind = *kind, .detail = plan_.run_key});
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
      succeed();
    } else if (rules == Phase::Failed) {
      over(Phase::Failed, failure_cause(plan_, census));
    } else if (refusals_.fatal) {
      refusals_.fatal->at = now_;
      over(Phase::Failed, std::move(refusals_.fatal));
    } else {
      return false;
    }
    return true;
  }

  bool end_at_a_limit(const Census& census) {
    if (const auto due = deadline_of(ledger()); due && now_ >= *due) {
      over(Phase::Failed, Cause{.kind = CauseKind::Deadline, .at = now_});
      return true;
    }
    if (const auto exhausted = exceeds_backoff(plan_, ledger(), counts(), census)) {
      over(Phase::Failed, blame(exhausted->rank, census));
      return true;
    }
    return false;
  }

  // Pods that run when the job has succeeded did their part, unless each rank's own end counts.
  void succeed() {
    for (const plan::Role& role : plan_.roles) {
      if (role.remembers()) continue;
      plan::RoleCount& role_count = counts()[role.name];
      role_count.succeeded += std::exchange(role_count.active, 0);
    }
    over(Phase::Succeeded, std::nullopt);
  }

  void over(Phase phase, std::optional<Cause> cause) {
    count_stopped(plan_, phase, counts());
    end(decision_, phase, std::move(cause), now_);
    clean_up(plan_, observed_, ledger(), decision_.wave);
    expire(ledger(), now_, decision_);
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
    note_abnormal(census);
    if (const auto due = deadline_of(ledger())) wake_no_later_than(decision_, *due);
  }

  // The ledger says why before a pod goes; a crash in between deletes it on the next look.
  void retry(const std::vector<const Rank*>& failed_anew) {
    if (failed_anew.empty()) return;
    decision_.commit_first = true;
    note_exits(failed_anew);
    if (!ledger().cause) {
      ledger().cause = cause_of(*failed_anew.front());
      decision_.notes.push_back({.kind = Note::Kind::Restarting, .cause = ledger().cause});
    }
    for (const Rank* rank : failed_anew) {
      record_retry(ledger(), *rank, now_);
      ledger().roles[rank->role->name].restarts = ++counts()[rank->role->name].restarts;
      if (rank->role->retry.keep_failed || rank->pod == nullptr) continue;
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

  void note_exits(const std::vector<const Rank*>& failed_anew) {
    std::vector<Note> exits;
    for (const Rank* rank : failed_anew) {
      const Cause cause = cause_of(*rank);
      if (!cause.exit_code) continue;
      exits.push_back(exit_note(cause));
    }
    if (exits.size() <= kMostNotes) {
      std::ranges::move(exits, std::back_inserter(decision_.notes));
      return;
    }
    decision_.notes.push_back({.kind = Note::Kind::ContainersExited,
                               .object_kind = "Pod",
                               .subject = std::to_string(exits.size()),
                               .detail = exits.front().detail});
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

  // What keeps a pod from running is worth an event; the controller says each only once.
  void note_abnormal(const Census& census) {
    std::size_t noted = 0;
    for (const Rank& rank : census.ranks()) {
      if (!rank.is(RankState::Pending) && !rank.is(RankState::Running)) continue;
      for (const ContainerView& container : rank.pod->containers) {
        if (container.running || container.exit_code || container.message.empty()) continue;
        if (waits_at_gate(container)) continue;
        if (noted++ == kMostNotes) return;
        decision_.notes.push_back({.kind = Note::Kind::Warning,
                                   .subject = rank.pod->name,
                                   .reason = container.reason,
                                   .detail = fmt::format("Pod {} container {}: {}", rank.pod->name,
                                                         container.name, container.message)});
      }
    }
  }

  // What waits for an object of ours that gates containers is where it should be.
  bool waits_at_gate(const ContainerView& container) const {
    return std::ranges::any_of(plan_.objects, [&](const plan::Object& object) {
      return object.on_change == plan::OnChange::Replace &&
             container.message.contains(fmt::format("\"{}\" not found", object.id.name));
    });
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

}  // namespace

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::CleanUp:
      return "CleanUp";
    case Reason::ScaleDown:
      return "ScaleDown";
    case Reason::ReplaceFailed:
      return "ReplaceFailed";
    case Reason::Superseded:
      return "Superseded";
    case Reason::Suspended:
      return "Suspended";
    case Reason::Outdated:
      return "Outdated";
    case Reason::Expired:
      return "Expired";
  }
  return "Unknown";
}

Decision decide(const plan::Plan& plan, const Observed& observed, Time now) {
  now = stored_precision(now);
  if (observed.deleting) return keep(observed);
  if (plan::is_terminal(observed.ledger.phase)) return decide_after_the_end(plan, observed, now);
  return Decider(plan, observed, now).decide();
}

Decision decide_frozen(const plan::JobRef& job, const Observed& observed, Time now) {
  now = stored_precision(now);
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
  end(decision, Phase::Failed, Cause{.kind = CauseKind::Deadline, .at = now}, now);
  // The plan is unknown, so only what certainly runs is stopped: every unfinished pod of ours.
  for (const PodView& pod : observed.pods) {
    if (pod.deleting || api::is_finished(pod.phase)) continue;
    decision.wave.emplace_back(
        DeletePod{.name = pod.name, .uid = pod.uid, .reason = Reason::CleanUp});
  }
  return decision;
}

Decision decide_invalid(const plan::JobRef& job, const Observed& observed, const Error& error,
                        Time now) {
  now = stored_precision(now);
  Decision decision = keep(observed);
  if (observed.deleting || plan::is_terminal(observed.ledger.phase)) return decision;
  decision.verdict.ledger.observed_generation = job.generation;
  end(decision, Phase::Failed,
      Cause{.kind = CauseKind::InvalidSpec, .text = api::event_message(error.message), .at = now},
      now);
  return decision;
}

}  // namespace muster::engine
