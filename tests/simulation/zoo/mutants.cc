#include "mutants.h"

#include <map>
#include <set>
#include <type_traits>

#include <fmt/format.h>

#include "mutant_clusters.h"

namespace muster::simulation {
namespace {

using engine::Decision;
using engine::Observed;
using Kind = Fault::Kind;

// Mutants of the policy.

Decide commits_late() {
  return [](const plan::Plan& plan, const Observed& observed, Time now) {
    Decision decision = engine::decide(plan, observed, now);
    decision.commit_first = false;
    return decision;
  };
}

Decide blind_to_terminating() {
  return [](const plan::Plan& plan, Observed observed, Time now) {
    std::erase_if(observed.pods, &engine::PodView::deleting);
    return engine::decide(plan, observed, now);
  };
}

// Does not look whether what an object says is still true, and makes pods beside it.
Decide trusts_old_lists() {
  return [](const plan::Plan& plan, Observed observed, Time now) {
    std::erase_if(observed.objects, [](const engine::ObjectView& object) {
      return object.resource == api::config_maps();
    });
    return engine::decide(plan, observed, now);
  };
}

// Only a pod that it saw alive can fail.
Decide edge_triggered() {
  return [alive = std::set<std::string>()](const plan::Plan& plan, Observed observed,
                                           Time now) mutable {
    for (engine::PodView& pod : observed.pods) {
      if (pod.phase != api::PodPhase::Failed) {
        alive.insert(pod.uid);
      } else if (!alive.contains(pod.uid)) {
        pod.phase = api::PodPhase::Running;
        pod.containers.clear();
      }
    }
    return engine::decide(plan, observed, now);
  };
}

// What it sends away itself counts as lost.
Decide blames_itself_for_losses() {
  return [](const plan::Plan& plan, const Observed& observed, Time now) {
    Decision decision = engine::decide(plan, observed, now);
    for (const auto& [name, role] : observed.ledger.roles) {
      for (const int index : role.seen.values())
        decision.verdict.ledger.roles[name].seen.insert(index);
    }
    return decision;
  };
}

// The end is forgotten when a pod moves afterwards.
Decide overwrites_the_end() {
  return [](const plan::Plan& plan, Observed observed, Time now) {
    if (plan::is_terminal(observed.ledger.phase) && !observed.pods.empty()) {
      observed.ledger.phase = plan::Phase::Running;
      observed.ledger.completion_time.reset();
    }
    return engine::decide(plan, observed, now);
  };
}

Decide ranks_by_list_order() {
  return [](const plan::Plan& plan, Observed observed, Time now) {
    std::map<std::string, int> next;
    for (engine::PodView& pod : observed.pods) pod.index = next[pod.role]++;
    return engine::decide(plan, observed, now);
  };
}

Decide leaks_services() {
  return [](const plan::Plan& plan, const Observed& observed, Time now) {
    Decision decision = engine::decide(plan, observed, now);
    std::erase_if(decision.wave, [](const engine::Action& action) {
      return std::holds_alternative<engine::DeleteObject>(action);
    });
    return decision;
  };
}

Decide keeps_surplus() {
  return [](const plan::Plan& plan, const Observed& observed, Time now) {
    Decision decision = engine::decide(plan, observed, now);
    std::erase_if(decision.wave, [](const engine::Action& action) {
      const auto* pod = std::get_if<engine::DeletePod>(&action);
      return pod != nullptr && pod->reason == engine::Reason::ScaleDown;
    });
    return decision;
  };
}

Decide counts_life_from_birth() {
  return [](const plan::Plan& plan, Observed observed, Time now) {
    const auto end = observed.ledger.completion_time;
    if (end) observed.ledger.completion_time = observed.ledger.start_time;
    Decision decision = engine::decide(plan, observed, now);
    if (end) decision.verdict.ledger.completion_time = end;
    return decision;
  };
}

Decide always_has_news() {
  return [count = 0](const plan::Plan& plan, const Observed& observed, Time now) mutable {
    Decision decision = engine::decide(plan, observed, now);
    decision.verdict.waiting_for = fmt::format("look {}", ++count);
    return decision;
  };
}

Decide forgets_the_retry() {
  return [](const plan::Plan& plan, const Observed& observed, Time now) {
    Decision decision = engine::decide(plan, observed, now);
    for (auto& [name, role] : decision.verdict.ledger.roles) {
      const auto before = observed.ledger.roles.find(name);
      role.attempts = before == observed.ledger.roles.end() ? std::map<int, std::int64_t>()
                                                            : before->second.attempts;
    }
    return decision;
  };
}

Decide keeps_suspended_pods() {
  return [](const plan::Plan& plan, const Observed& observed, Time now) {
    Decision decision = engine::decide(plan, observed, now);
    std::erase_if(decision.wave, [](const engine::Action& action) {
      const auto* pod = std::get_if<engine::DeletePod>(&action);
      return pod != nullptr && pod->reason == engine::Reason::Suspended;
    });
    return decision;
  };
}

// Those of the old run are taken to be gone as soon as they are asked to go.
Decide resumes_too_early() {
  return [](const plan::Plan& plan, Observed observed, Time now) {
    std::erase_if(observed.pods, [&](const engine::PodView& pod) {
      return pod.epoch != observed.ledger.epoch && pod.deleting;
    });
    return engine::decide(plan, observed, now);
  };
}

// What should outlive a pause goes with it.
Decide clears_away_when_paused() {
  return [](const plan::Plan& plan, const Observed& observed, Time now) {
    if (!plan.hold) return engine::decide(plan, observed, now);
    plan::Plan other = plan;
    for (plan::Object& object : other.objects) object.until = plan::Until::Hold;
    return engine::decide(other, observed, now);
  };
}

// Waits for keys that nobody makes.
Decide makes_no_keys() {
  return [](const plan::Plan& plan, const Observed& observed, Time now) {
    Decision decision = engine::decide(plan, observed, now);
    std::erase_if(decision.wave, [](const engine::Action& action) {
      const auto* object = std::get_if<engine::CreateObject>(&action);
      return object != nullptr && object->object->is_secret();
    });
    return decision;
  };
}

Decide blames_the_program_for_disruptions() {
  return [](const plan::Plan& plan, Observed observed, Time now) {
    for (engine::PodView& pod : observed.pods) pod.disruption_target = false;
    return engine::decide(plan, observed, now);
  };
}

// Every rank lives in an epoch of its own, and nobody minds.
Decide mixes_epochs() {
  return [](const plan::Plan& plan, Observed observed, Time now) {
    for (engine::PodView& pod : observed.pods) pod.epoch = observed.ledger.epoch;
    Decision decision = engine::decide(plan, observed, now);
    for (engine::Action& action : decision.wave) {
      if (auto* pod = std::get_if<engine::CreatePod>(&action)) pod->epoch = pod->index;
    }
    return decision;
  };
}

Mutant policy(std::string name, Decide (*make)()) {
  return {.name = std::move(name), .decide = make, .cluster = nullptr};
}

template <class Wrapper>
Mutant way(std::string name) {
  return {.name = std::move(name), .decide = nullptr, .cluster = [](cluster::Cluster& inner) {
            return std::make_unique<Wrapper>(inner);
          }};
}

}  // namespace

std::vector<Specimen> zoo() {
  return {
      {way<NoUidOnDelete>("no UID on delete"), "restart", Kind::None, "S6"},
      {way<NoVersionOnStatus>("no RV on status"), "create", Kind::None, "S9"},
      {way<AdoptByName>("adopt by name"), "foreign", Kind::None, "S7"},
      {policy("terminating counted as gone", &blind_to_terminating), "bounce", Kind::None, "S15"},
      {policy("edge-triggered failure", &edge_triggered), "restart", Kind::CrashBefore, "O1"},
      {policy("restart counted after delete", &commits_late), "restart", Kind::None, "S6"},
      {policy("own deletions counted as losses", &blames_itself_for_losses), "completions_held",
       Kind::None, "S5"},
      {policy("retry never counted", &forgets_the_retry), "restart", Kind::None, "S3"},
      {way<AmbiguousCreateIgnored>("ambiguous create ignored"), "create", Kind::TimeoutBefore,
       "L1"},
      {way<ConflictAsSuccess>("409 as success"), "restart", Kind::Conflict, "S6"},
      {way<ExpiryAsEnd>("410 as EOF, no relist"), "restart", Kind::ExpireWatch, "L1"},
      {way<ResumesTooLate>("resume from bookmark+1"), "restart", Kind::CutWatch, "L1"},
      {way<ForceDelete>("force-delete"), "bounce", Kind::None, "S1"},
      {policy("terminal overwritten by late pod", &overwrites_the_end), "success", Kind::None,
       "S4"},
      {policy("rank from list order", &ranks_by_list_order), "restart", Kind::CrashAfter, "S6"},
      {policy("services leaked", &leaks_services), "success", Kind::None, "O1"},
      {policy("surplus kept", &keeps_surplus), "scale", Kind::None, "O1"},
      {policy("epochs mixed", &mixes_epochs), "create", Kind::None, "S2"},
      {policy("TTL from creation", &counts_life_from_birth), "ttl", Kind::None, "S6"},
      {policy("suspended pods kept", &keeps_suspended_pods), "suspend", Kind::None, "L1"},
      {policy("resumed too early", &resumes_too_early), "suspend", Kind::None, "S15"},
      {policy("disruption taken for a failure", &blames_the_program_for_disruptions), "disruption",
       Kind::None, "O1"},
      {policy("old list of ranks kept", &trusts_old_lists), "barrier_scale", Kind::None, "S10"},
      {way<MakesKeysAnew>("key made anew"), "pause", Kind::None, "S11"},
      {policy("kept objects cleared by a pause", &clears_away_when_paused), "pause", Kind::None,
       "S6"},
      {policy("keys never made", &makes_no_keys), "pause", Kind::None, "L1"},
      {policy("hot loop on equal spec", &always_has_news), "create", Kind::None, "L1"},
  };
}

}  // namespace muster::simulation
