#include "mutant_policies.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace muster::simulation {
namespace {

using engine::Decision;
using engine::Observed;

// A policy that reads another plan. What is decided refers to that, so all of them are kept.
template <class Change>
Decide with_plan(Change change) {
  const auto plans = std::make_shared<std::deque<plan::Plan>>();
  return [change, plans](const plan::Plan& plan, const Observed& observed, Time now) {
    plan::Plan& other = plans->emplace_back(plan);
    change(other, observed);
    return engine::decide(other, observed, now);
  };
}

}  // namespace

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
      role.attempts =
          before == observed.ledger.roles.end() ? plan::IndexCounts() : before->second.attempts;
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

Decide knows_no_limit() {
  return with_plan([](plan::Plan& plan, const Observed&) {
    plan.limits.backoff.reset();
    for (plan::Role& role : plan.roles) role.retry.limit.reset();
  });
}

Decide knows_no_deadline() {
  return with_plan([](plan::Plan& plan, const Observed&) { plan.limits.deadline_seconds.reset(); });
}

// What has begun is not held any more.
Decide holds_only_the_new() {
  return with_plan([](plan::Plan& plan, const Observed& observed) {
    if (!observed.ledger.start_time) return;
    plan.hold = false;
    plan.run_key = observed.ledger.run_key;
  });
}

// A job is for ever what it was first.
Decide reads_no_edits() {
  const auto first = std::make_shared<std::map<std::string, plan::Plan>>();
  return [first](const plan::Plan& plan, const Observed& observed, Time now) {
    return engine::decide(first->try_emplace(plan.job.uid, plan).first->second, observed, now);
  };
}

Decide says_an_old_generation() {
  return [](const plan::Plan& plan, const Observed& observed, Time now) {
    Decision decision = engine::decide(plan, observed, now);
    decision.verdict.ledger.observed_generation = plan.job.generation - 1;
    return decision;
  };
}

// Says what it made, not what is there.
Decide counts_its_own_deeds() {
  return [](const plan::Plan& plan, const Observed& observed, Time now) {
    Decision decision = engine::decide(plan, observed, now);
    for (auto& [name, count] : decision.verdict.counts) {
      count.active += std::exchange(count.pending, 0);
      if (count.active > 0) --count.active;
    }
    return decision;
  };
}

// Whose node is not heard of has failed.
Decide gives_up_the_unreachable() {
  return [](const plan::Plan& plan, Observed observed, Time now) {
    for (engine::PodView& pod : observed.pods) {
      if (pod.phase != api::PodPhase::Running || pod.ready) continue;
      pod.phase = api::PodPhase::Failed;
      for (engine::ContainerView& container : pod.containers) container.exit_code = 137;
    }
    return engine::decide(plan, observed, now);
  };
}

Decide forgets_exit_codes() {
  return [](const plan::Plan& plan, Observed observed, Time now) {
    for (engine::PodView& pod : observed.pods) pod.containers.clear();
    return engine::decide(plan, observed, now);
  };
}

Decide leaves_pods_at_the_end() {
  return [](const plan::Plan& plan, const Observed& observed, Time now) {
    Decision decision = engine::decide(plan, observed, now);
    std::erase_if(decision.wave, [](const engine::Action& action) {
      const auto* pod = std::get_if<engine::DeletePod>(&action);
      return pod != nullptr && pod->reason == engine::Reason::CleanUp;
    });
    return decision;
  };
}

}  // namespace muster::simulation
