#include "engine/scale.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/retry.h"

namespace muster::engine {
namespace {

Reason reason_for(const PodView& pod, const plan::Ledger& ledger) {
  if (pod.epoch == ledger.epoch) return Reason::ScaleDown;
  return ledger.phase == plan::Phase::Suspended ? Reason::Suspended : Reason::Superseded;
}

// How many pods of the role may be made now.
int room_for(const plan::Role& role, const Tally& tally) {
  return role.max_active.value_or(std::numeric_limits<int>::max()) - tally.living;
}

// Names for new pods of a role. Of those with a salt two may be alike: then it is the next one.
class TakenNames {
 public:
  TakenNames(const plan::Role& role, const Census& census) : rule_(role.pod_name) {
    if (rule_.salt.empty()) return;
    for (const PodView* pod : census.pods_of(role)) taken_.insert(pod->name);
  }

  std::string next(const plan::Try& which) {
    if (rule_.salt.empty()) return rule_.name(which.rank, which.attempt);
    for (int next = 0;; ++next) {
      std::string name = rule_.salted_name(which, next);
      if (taken_.insert(name).second) return name;
    }
  }

 private:
  const plan::NameRule& rule_;
  std::unordered_set<std::string> taken_;
};

// Which of two pods goes first: the one that has not begun, is not ready, was restarted more often.
bool goes_before(const Rank* a, const Rank* b) {
  const auto order = [](const Rank& rank) {
    return std::tuple(rank.is(RankState::Running), rank.pod->ready, -rank.pod->restarts(),
                      -rank.index);
  };
  return order(*a) < order(*b);
}

// Makes the children of one plan; what it needs to know does not change on the way.
class Maker {
 public:
  Maker(const plan::Plan& plan, const Census& census, const Children& children,
        const plan::Ledger& ledger, Time now, std::vector<Action>& wave)
      : plan_(plan),
        census_(census),
        children_(children),
        ledger_(ledger),
        now_(now),
        wave_(wave),
        addresses_(known_addresses(plan, children, census)) {}

  void make_objects() {
    for (const plan::Object& object : plan_.objects) {
      if (object.is_secret()) continue;  // until a pod needs it
      if (object.on_change == plan::OnChange::Replace) remove_outdated(object);
      if (!resolves(object.values, *addresses_)) {
        missing_.waiting_for =
            fmt::format("an address that {} {} needs", object.id.resource.kind, object.id.name);
        continue;
      }
      for (int index = 0; index < copies(plan_, object); ++index) {
        std::string name = object_name(plan_, object, index, ledger_);
        if (children_.object(object.id.resource, name) != nullptr) continue;
        wave_.emplace_back(CreateObject{
            .name = std::move(name), .object = &object, .index = index, .addresses = addresses_});
      }
    }
  }

  // Nobody of a new epoch meets anybody of an older one, and nobody starts with what an object said
  // that is to be replaced.
  void make_pods() {
    if (!outdated_.empty()) {
      missing_.waiting_for = fmt::format("{} of before to be gone", outdated_);
      return;
    }
    const bool old_ones_left = std::ranges::any_of(
        census_.surplus(), [&](const PodView* pod) { return pod->epoch != ledger_.epoch; });
    if (old_ones_left) {
      missing_.waiting_for = "the pods of the run before to end";
      return;
    }
    for (const plan::Role& role : plan_.roles) {
      if (may_begin(role)) make_pods(role);
    }
  }

  [[nodiscard]] const Missing& missing() const { return missing_; }

 private:
  void remove_outdated(const plan::Object& object) {
    for (int index = 0; index < copies(plan_, object); ++index) {
      const ObjectView* known =
          children_.object(object.id.resource, object_name(plan_, object, index, ledger_));
      if (known == nullptr) continue;
      if (!known->deleting && content_of(object, index, *addresses_) == known->content) continue;
      outdated_ = fmt::format("{} {}", known->resource.kind, known->name);
      if (known->deleting) continue;
      wave_.emplace_back(DeleteObject{.resource = known->resource,
                                      .name = known->name,
                                      .uid = known->uid,
                                      .reason = Reason::Outdated});
    }
  }

  bool may_begin(const plan::Role& role) {
    const bool objects_exist = std::ranges::all_of(role.after, [&](const plan::ObjectId& id) {
      const plan::Object* planned = plan_.object(id);
      if (planned != nullptr && planned->is_secret()) return true;  // made when pods are due
      const ObjectView* object = children_.object(id.resource, id.name);
      return object != nullptr && !object->deleting;
    });
    if (!objects_exist) return false;
    if (resolves(role.values_for(resumed_), *addresses_)) return true;
    missing_.waiting_for = fmt::format("an address that {} needs", role.name);
    return false;
  }

  // Nobody looks for secrets: what is not known to be there is made, and if it was there after all
  // the server says so. True when the role needs none that is unknown.
  bool has_secrets(const plan::Role& role) {
    bool all = true;
    for (const plan::ObjectId& id : role.after) {
      const plan::Object* planned = plan_.object(id);
      if (planned == nullptr || !planned->is_secret() || children_.has_secret(id)) continue;
      all = false;
      if (!asked_for_.insert(id).second) continue;
      wave_.emplace_back(CreateObject{.name = id.name, .object = planned, .addresses = addresses_});
    }
    return all;
  }

  void make_pods(const plan::Role& role) {
    static const plan::RoleLedger nothing;
    const auto remembered = ledger_.roles.find(role.name);
    const plan::RoleLedger& known =
        remembered == ledger_.roles.end() ? nothing : remembered->second;
    const std::vector<const Rank*> ranks = due_ranks(role, known);
    if (ranks.empty() || !has_secrets(role)) return;
    TakenNames taken(role, census_);
    for (const Rank* rank : ranks) {
      const std::int64_t attempt = known.attempts.at(rank->index);
      wave_.emplace_back(CreatePod{
          .name = taken.next({.rank = rank->index, .attempt = attempt, .epoch = ledger_.epoch}),
          .role = &role,
          .index = rank->index,
          .attempt = attempt,
          .epoch = ledger_.epoch,
          .resumed = resumed_,
          .addresses = addresses_});
    }
  }

  // Those without a pod that may have one now.
  std::vector<const Rank*> due_ranks(const plan::Role& role, const plan::RoleLedger& known) {
    std::vector<const Rank*> due;
    int room = room_for(role, census_.tally(role));
    if (role.completion == plan::Completion::WorkQueue && !known.done.empty()) room = 0;
    for (const Rank& rank : census_.ranks_of(role)) {
      if (room <= 0) break;
      if (rank.pod != nullptr || rank.is(RankState::Succeeded)) continue;
      if (!is_due(known, rank.index)) continue;
      due.push_back(&rank);
      --room;
    }
    return due;
  }

  // False: not before a later time, at which to look again.
  bool is_due(const plan::RoleLedger& known, int index) {
    Time due = known.pause_until.value_or(now_);
    if (const auto wait = known.not_before.find(index); wait != known.not_before.end())
      due = std::max(due, wait->second);
    // No pause is that long: it was counted before the clock was set back.
    if (due <= now_ || due > now_ + 2 * kLongestPause) return true;
    missing_.wake_at = std::min(missing_.wake_at.value_or(due), due);
    return false;
  }

  const plan::Plan& plan_;
  const Census& census_;
  const Children& children_;
  const plan::Ledger& ledger_;
  bool resumed_ = ledger_.resumed > 0;
  Time now_;
  std::vector<Action>& wave_;
  std::shared_ptr<const plan::Addresses> addresses_;
  Missing missing_;
  std::string outdated_;  // an object that is to be replaced and is still there
  std::set<plan::ObjectId> asked_for_;
};

}  // namespace

void remove_surplus_pods(const Census& census, const plan::Ledger& ledger,
                         std::vector<Action>& wave) {
  const auto remove = [&](const PodView& pod, Reason reason) {
    if (pod.deleting) return;
    wave.emplace_back(DeletePod{.name = pod.name, .uid = pod.uid, .reason = reason});
  };
  for (const Rank& rank : census.ranks()) {
    if (rank.superseded) remove(*rank.pod, Reason::ReplaceFailed);
  }
  for (const PodView* pod : census.surplus()) remove(*pod, reason_for(*pod, ledger));
}

std::vector<const Rank*> excess(const plan::Plan& plan, const Census& census) {
  std::vector<const Rank*> all;
  for (const plan::Role& role : plan.roles) {
    const Tally& tally = census.tally(role);
    const int surplus = -room_for(role, tally);
    if (surplus <= 0) continue;
    // What a work queue has begun it finishes once the first has succeeded.
    if (role.completion == plan::Completion::WorkQueue && tally.succeeded > 0) continue;
    std::vector<const Rank*> living;
    for (const Rank& rank : census.ranks_of(role)) {
      if (rank.lives()) living.push_back(&rank);
    }
    std::ranges::sort(living, goes_before);
    all.insert(all.end(), living.begin(), living.begin() + surplus);
  }
  return all;
}

void remove_surplus_objects(const plan::Plan& plan, const Observed& observed,
                            const Children& children, const plan::Ledger& ledger,
                            std::vector<Action>& wave) {
  std::unordered_set<const ObjectView*> wanted;
  for (const plan::Object& object : plan.objects) {
    if (plan.hold && object.until == plan::Until::Hold) continue;
    for (int index = 0; index < copies(plan, object); ++index) {
      wanted.insert(children.object(object.id.resource, object_name(plan, object, index, ledger)));
    }
  }
  for (const ObjectView& object : observed.objects) {
    if (object.deleting || wanted.contains(&object)) continue;
    wave.emplace_back(DeleteObject{.resource = object.resource,
                                   .name = object.name,
                                   .uid = object.uid,
                                   .reason = plan.hold ? Reason::Suspended : Reason::ScaleDown});
  }
}

Missing create_missing(const plan::Plan& plan, const Census& census, const Children& children,
                       const plan::Ledger& ledger, Time now, std::vector<Action>& wave) {
  Maker maker(plan, census, children, ledger, now, wave);
  maker.make_objects();
  maker.make_pods();
  return maker.missing();
}

}  // namespace muster::engine
