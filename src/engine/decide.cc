#include "engine/decide.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/census.h"
#include "engine/children.h"
#include "engine/cleanup.h"
#include "engine/outcome.h"
#include "engine/refusals.h"
#include "engine/restarts.h"

namespace muster::engine {
namespace {

using plan::Cause;
using plan::CauseKind;
using plan::Note;
using plan::Phase;
using std::chrono::seconds;

constexpr Duration kQuotaRetry = seconds(5);

void wake_no_later_than(Decision& decision, Time at) {
  decision.wake_at = decision.wake_at ? std::min(*decision.wake_at, at) : at;
}

std::optional<Time> deadline_of(const plan::Ledger& ledger) {
  if (!ledger.limits.deadline_seconds || !ledger.start_time) return std::nullopt;
  return *ledger.start_time + seconds(*ledger.limits.deadline_seconds);
}

// The ledger is stored with microseconds; deciding with more would not survive the round trip.
Time stored_precision(Time now) {
  return std::chrono::floor<std::chrono::microseconds>(now);
}

// One decision in the making. Each step reads what the steps before it left in `decision`.
class Decider {
 public:
  Decider(const plan::Plan& plan, const Observed& observed, Time now)
      : plan_(plan), observed_(observed), now_(now) {
    decision_.verdict.ledger = observed.ledger;
  }

  Decision decide() && {
    if (observed_.deleting) return keep();
    if (plan::is_terminal(ledger().phase)) return after_the_end();
    begin();
    const Census census = take_census(plan_, observed_.pods, ledger().epoch);
    forget_recovered(ledger(), census);
    const auto failed_anew = newly_failed(census, ledger());
    tally(census);
    if (end_if_over(census, failed_anew)) return std::move(decision_);
    retry(failed_anew);
    remove_surplus(census);
    if (!observed_refusals_stop_us()) create_missing(census);
    settle_phase(census);
    note_abnormal(census);
    wait_for_deadline();
    return std::move(decision_);
  }

 private:
  plan::Ledger& ledger() { return decision_.verdict.ledger; }

  // Nothing to do, nothing to say: the verdict repeats what is stored.
  Decision keep() {
    plan::Verdict& verdict = decision_.verdict;
    verdict.phase = ledger().phase;
    verdict.cause = ledger().cause;
    verdict.counts = ledger().final_counts;
    return std::move(decision_);
  }

  Decision after_the_end() {
    Decision decision = keep();
    clean_up(plan_, observed_, decision.verdict.ledger, decision.wave);
    expire(decision.verdict.ledger, now_, decision);
    return decision;
  }

  // The start needs no storing before the first wave: should it get lost in a crash, what the wave
  // made is found, and the job has started a little later.
  void begin() {
    if (!ledger().start_time) {
      ledger().start_time = stored_precision(observed_.first_look.value_or(now_));
      for (const plan::Warning& warning : plan_.warnings) {
        decision_.notes.push_back(
            {.kind = Note::Kind::Warning, .reason = warning.reason, .detail = warning.message});
      }
    }
    ledger().observed_generation = plan_.job.generation;
    ledger().limits = plan_.limits;
  }

  void tally(const Census& census) {
    decision_.verdict.counts = count(plan_, census);
    settle_restarts(ledger(), decision_.verdict.counts);
  }

  // Success first: what ended well before we looked did not overrun anything.
  bool end_if_over(const Census& census, const std::vector<const Rank*>& failed_anew) {
    const auto rules = outcome(plan_, census);
    if (rules == Phase::Succeeded) {
      end(Phase::Succeeded, std::nullopt);
      return true;
    }
    if (auto limit = exhausted(census, failed_anew)) {
      end(Phase::Failed, std::move(limit));
      return true;
    }
    if (rules == Phase::Failed) {
      end(Phase::Failed, failure_cause(plan_, census));
      return true;
    }
    refusals_ = weigh(observed_.refusals);
    if (refusals_.fatal) {
      refusals_.fatal->at = now_;
      end(Phase::Failed, std::move(refusals_.fatal));
      return true;
    }
    return false;
  }

  std::optional<Cause> exhausted(const Census& census,
                                 const std::vector<const Rank*>& failed_anew) {
    if (const auto due = deadline_of(ledger()); due && now_ >= *due) {
      return Cause{.kind = CauseKind::Deadline, .at = now_};
    }
    if (!plan_.limits.backoff) return std::nullopt;
    const std::int64_t limit = *plan_.limits.backoff;
    const auto pending = static_cast<std::int64_t>(failed_anew.size());
    const std::int64_t restarts = counted_restarts(plan_, decision_.verdict.counts) + pending;
    const Rank* failed = first_failed(census, failed_anew);
    const bool over = limit == 0 ? restarts > 0 || failed != nullptr : restarts >= limit;
    if (!over) return std::nullopt;
    Cause cause = failed != nullptr ? cause_of(*failed) : restarted_cause(census);
    cause.kind = CauseKind::BackoffLimit;
    return cause;
  }

  // Restarted in place: nothing has failed for good, but the rank's last life says how it ended.
  Cause restarted_cause(const Census& census) const {
    for (const Rank& rank : census.ranks) {
      if (!rank.present()) continue;
      const ContainerView* main = rank.pod->container(rank.role->main_container);
      if (main == nullptr || main->restarts == 0) continue;
      return {.role = rank.role->name,
              .index = rank.index,
              .pod = rank.pod->name,
              .exit_code = main->last_exit_code,
              .at = now_};
    }
    return {.at = now_};
  }

  static const Rank* first_failed(const Census& census,
                                  const std::vector<const Rank*>& failed_anew) {
    if (!failed_anew.empty()) return failed_anew.front();
    const auto failed = std::ranges::find_if(census.ranks, &Rank::failed);
    return failed == census.ranks.end() ? nullptr : &*failed;
  }

  // The terminal verdict is stored before clean-up removes what it was read from.
  void end(Phase phase, std::optional<Cause> cause) {
    plan::Verdict& verdict = decision_.verdict;
    if (phase == Phase::Succeeded) {
      for (auto& [role, role_count] : verdict.counts) {
        role_count.succeeded += std::exchange(role_count.active, 0);
      }
    }
    ledger().phase = phase;
    ledger().cause = cause;
    ledger().completion_time = now_;
    ledger().final_counts = verdict.counts;
    ledger().replaced.clear();
    ledger().not_before.clear();
    verdict.phase = phase;
    verdict.cause = cause;
    decision_.commit_first = true;
    if (cause && cause->exit_code) note_exit(*cause);
    decision_.notes.push_back(
        {.kind = phase == Phase::Succeeded ? Note::Kind::Succeeded : Note::Kind::Failed,
         .cause = cause});
    clean_up(plan_, observed_, ledger(), decision_.wave);
    expire(ledger(), now_, decision_);
  }

  void note_exit(const Cause& cause) {
    decision_.notes.push_back({.kind = Note::Kind::ContainerExited,
                               .object_kind = "Pod",
                               .subject = cause.pod,
                               .detail = std::to_string(*cause.exit_code)});
  }

  // The ledger says why before the pod goes; a crash in between deletes it on the next look.
  void retry(const std::vector<const Rank*>& failed_anew) {
    for (const Rank* rank : failed_anew) {
      record_retry(ledger(), *rank, now_);
      Cause cause = cause_of(*rank);
      note_exit(cause);
      if (!ledger().cause) {
        ledger().cause = cause;
        decision_.notes.push_back({.kind = Note::Kind::Restarting, .cause = std::move(cause)});
      }
    }
    if (!failed_anew.empty()) {
      decision_.commit_first = true;
      recount_attempts(failed_anew);
    }
    for (const PodView& pod : observed_.pods) {
      if (pod.deleting || pod.phase != api::PodPhase::Failed) continue;
      const auto replaced = ledger().replaced.find(plan::rank_key(pod.role, pod.index));
      if (replaced == ledger().replaced.end() || replaced->second != pod.uid) continue;
      decision_.wave.emplace_back(
          DeletePod{.name = pod.name, .uid = pod.uid, .reason = Reason::ReplaceFailed});
    }
  }

  void recount_attempts(const std::vector<const Rank*>& failed_anew) {
    for (const Rank* rank : failed_anew) {
      auto& role_count = decision_.verdict.counts[rank->role->name];
      ledger().restarts[rank->role->name] = ++role_count.restarts;
    }
  }

  void remove_surplus(const Census& census) {
    for (const PodView* pod : census.surplus) {
      if (pod->deleting) continue;
      const Reason reason = pod->epoch == ledger().epoch ? Reason::ScaleDown : Reason::Superseded;
      decision_.wave.emplace_back(DeletePod{.name = pod->name, .uid = pod->uid, .reason = reason});
    }
  }

  bool observed_refusals_stop_us() {
    if (!refusals_.waiting_for.empty()) {
      decision_.verdict.waiting_for = refusals_.waiting_for;
      wake_no_later_than(decision_, now_ + kQuotaRetry);
    }
    return refusals_.stop || !refusals_.waiting_for.empty();
  }

  void create_missing(const Census& census) {
    for (const plan::Object& object : plan_.objects) {
      if (find_object(observed_, object) != nullptr) continue;
      decision_.wave.emplace_back(
          CreateObject{.resource = object.resource, .body = make_object(plan_, object)});
    }
    for (const Rank& rank : census.ranks) {
      if (rank.pod != nullptr || !objects_exist(*rank.role)) continue;
      const auto wait = ledger().not_before.find(rank.key());
      if (wait != ledger().not_before.end() && wait->second > now_) {
        wake_no_later_than(decision_, wait->second);
        continue;
      }
      if (auto pod = plan_pod(plan_, *rank.role, rank.index, observed_, ledger())) {
        decision_.wave.emplace_back(std::move(*pod));
      } else {
        decision_.verdict.waiting_for = fmt::format("an address that {} needs", rank.role->name);
      }
    }
  }

  [[nodiscard]] bool objects_exist(const plan::Role& role) const {
    return std::ranges::all_of(role.after, [&](const std::string& name) {
      return std::ranges::any_of(observed_.objects, [&](const ObjectView& object) {
        return object.name == name && !object.deleting;
      });
    });
  }

  // Created until something runs; Restarting while a rank is being replaced; else Running.
  void settle_phase(const Census& census) {
    const bool working = std::ranges::any_of(census.ranks, [&](const Rank& rank) {
      return rank.running() && rank.role->name == plan_.running_role;
    });
    Phase phase = ledger().phase;
    if (!ledger().replaced.empty()) {
      phase = Phase::Restarting;
    } else if (working) {
      phase = Phase::Running;
    }
    if (phase == Phase::Running) ledger().cause.reset();
    ledger().phase = phase;
    decision_.verdict.phase = phase;
    decision_.verdict.cause = ledger().cause;
  }

  // What keeps a pod from running is worth an event; the controller says each only once.
  void note_abnormal(const Census& census) {
    for (const Rank& rank : census.ranks) {
      if (!rank.present() || api::is_finished(rank.pod->phase)) continue;
      for (const ContainerView& container : rank.pod->containers) {
        if (container.running || container.exit_code || container.message.empty()) continue;
        decision_.notes.push_back({.kind = Note::Kind::Warning,
                                   .subject = rank.pod->name,
                                   .reason = container.reason,
                                   .detail = fmt::format("Pod {} container {}: {}", rank.pod->name,
                                                         container.name, container.message)});
      }
    }
  }

  void wait_for_deadline() {
    if (const auto due = deadline_of(ledger())) wake_no_later_than(decision_, *due);
  }

  const plan::Plan& plan_;
  const Observed& observed_;
  Time now_;
  Decision decision_;
  RefusalMeaning refusals_;
};

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
    case Reason::Expired:
      return "Expired";
  }
  return "Unknown";
}

Decision decide(const plan::Plan& plan, const Observed& observed, Time now) {
  return Decider(plan, observed, stored_precision(now)).decide();
}

Decision decide_frozen(const plan::JobRef& job, const Observed& observed, Time now) {
  now = stored_precision(now);
  Decision decision;
  decision.verdict = {.phase = observed.ledger.phase,
                      .counts = observed.ledger.final_counts,
                      .cause = observed.ledger.cause,
                      .ledger = observed.ledger};
  if (plan::is_terminal(observed.ledger.phase)) {
    if (!observed.deleting) expire(observed.ledger, now, decision);
    return decision;
  }
  decision.verdict.waiting_for = fmt::format("{} to be valid again", job.name);
  const auto due = deadline_of(observed.ledger);
  if (!due) return decision;
  if (now < *due) {
    decision.wake_at = due;
    return decision;
  }
  plan::Ledger& ledger = decision.verdict.ledger;
  ledger.phase = Phase::Failed;
  ledger.cause = Cause{.kind = CauseKind::Deadline, .at = now};
  ledger.completion_time = now;
  decision.verdict.phase = ledger.phase;
  decision.verdict.cause = ledger.cause;
  decision.commit_first = true;
  decision.notes.push_back({.kind = Note::Kind::Failed, .cause = ledger.cause});
  // The plan is unknown, so only what certainly runs is stopped: every unfinished pod of ours.
  for (const PodView& pod : observed.pods) {
    if (pod.deleting || api::is_finished(pod.phase)) continue;
    decision.wave.emplace_back(
        DeletePod{.name = pod.name, .uid = pod.uid, .reason = Reason::CleanUp});
  }
  return decision;
}

}  // namespace muster::engine
