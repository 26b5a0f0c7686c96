#include "server/keepers/garbage_collector.h"

#include <algorithm>

#include "api/object.h"
#include "server/core.h"

namespace muster::server {
namespace {

constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";
// Examined between two turns of the loop: each is some µs of look-ups, so far below a 10 ms stall.
constexpr int kLot = 256;

bool has_finalizer(const json::Value& object, std::string_view finalizer) {
  return std::ranges::any_of(
      object["metadata"]["finalizers"].as_array(),
      [&](const json::Value& each) { return each.as_string() == finalizer; });
}

}  // namespace

GarbageCollector::GarbageCollector(Core& core)
    : core_(core), work_(core.loop_), scope_(core.loop_) {
  for (const auto& table : core_.journal_.tables()) {
    for (const auto& [key, object] : table->head()) {
      const Place place = place_of(*table, *object);
      index(place, *object);
      enqueue(place);
    }
  }
}

void GarbageCollector::start() {
  scope_.spawn(run());
}

GarbageCollector::Place GarbageCollector::place_of(const Table& table,
                                                   const json::Value& object) const {
  const auto& tables = core_.journal_.tables();
  const auto found =
      std::ranges::find_if(tables, [&](const auto& each) { return each.get() == &table; });
  return {.table = static_cast<std::size_t>(found - tables.begin()), .key = api::key_of(object)};
}

ObjectPtr GarbageCollector::find(const Place& place) const {
  return core_.journal_.tables()[place.table]->find_head(place.key);
}

void GarbageCollector::index(const Place& place, const json::Value& object) {
  living_[api::uid_of(object)] = place;
  for (const json::Value& owner : object["metadata"]["ownerReferences"].as_array()) {
    dependents_[owner["uid"].as_string()].insert(place);
  }
}

void GarbageCollector::forget(const Place& place, const json::Value& object) {
  for (const json::Value& owner : object["metadata"]["ownerReferences"].as_array()) {
    const auto found = dependents_.find(owner["uid"].as_string());
    if (found == dependents_.end()) continue;
    found->second.erase(place);
    if (found->second.empty()) dependents_.erase(found);
    const auto alive = living_.find(owner["uid"].as_string());
    if (alive != living_.end()) enqueue(alive->second);  // it may have waited for this one
  }
  living_.erase(api::uid_of(object));
}

void GarbageCollector::note(Table& table, const ObjectPtr& before, const ObjectPtr& after) {
  const Place place = place_of(table, before != nullptr ? *before : *after);
  if (before != nullptr) forget(place, *before);
  if (after == nullptr) {
    enqueue_dependents(api::uid_of(*before));
    return;
  }
  index(place, *after);
  if (!(*after)["metadata"]["ownerReferences"].as_array().empty()) enqueue(place);
  if (api::is_deleting(*after) &&
      (has_finalizer(*after, kForeground) || has_finalizer(*after, kOrphan))) {
    enqueue(place);
    enqueue_dependents(api::uid_of(*after));
  }
}

void GarbageCollector::enqueue(const Place& place) {
  if (!queued_.insert(place).second) return;
  queue_.push_back(place);
  work_.set();
}

void GarbageCollector::enqueue_dependents(const std::string& uid) {
  const auto found = dependents_.find(uid);
  if (found == dependents_.end()) return;
  for (const Place& place : found->second) enqueue(place);
}

Task<void> GarbageCollector::run() {
  while (true) {
    if (queue_.empty()) {
      work_.reset();
      if (!co_await work_.wait()) co_return;
    }
    for (int count = 0; count < kLot && !queue_.empty(); ++count) {
      const Place place = queue_.front();
      queue_.pop_front();
      queued_.erase(place);
      examine(place);
    }
    if (!co_await core_.kept()) co_return;  // what was taken back is in the queue again
    if (!co_await rt::yield(core_.loop_)) co_return;
  }
}

void GarbageCollector::examine(const Place& place) {
  const ObjectPtr object = find(place);
  if (object == nullptr) return;
  if (api::is_deleting(*object) && finish_deletion(place, *object)) return;
  const json::Array& owners = (*object)["metadata"]["ownerReferences"].as_array();
  if (owners.empty()) return;
  for (const json::Value& owner : owners) {
    if (look_up(*object, owner) == Owner::Solid) return;
  }
  if (api::is_deleting(*object)) return;
  const Kind& kind = core_.journal_.tables()[place.table]->kind();
  [[maybe_unused]] const auto removed =
      core_.remove_now(kind, place.key, {.uid = api::uid_of(*object)}, Mode::Store);
}

// True when the object waited for us and is settled now.
bool GarbageCollector::finish_deletion(const Place& place, const json::Value& object) {
  if (has_finalizer(object, kOrphan)) {
    orphan_dependents(object);
    strip_finalizer(place, kOrphan);
    return true;
  }
  if (!has_finalizer(object, kForeground)) return false;
  if (!has_blocking_dependents(api::uid_of(object))) strip_finalizer(place, kForeground);
  return true;
}

void GarbageCollector::orphan_dependents(const json::Value& owner) {
  const auto found = dependents_.find(api::uid_of(owner));
  if (found == dependents_.end()) return;
  const std::set<Place> places = found->second;  // the writes below change the index
  for (const Place& place : places) {
    const ObjectPtr old = find(place);
    if (old == nullptr) continue;
    json::Value object = *old;
    std::erase_if(object["metadata"]["ownerReferences"].array(), [&](const json::Value& reference) {
      return reference["uid"].as_string() == api::uid_of(owner);
    });
    core_.store_change(*core_.journal_.tables()[place.table], old, std::move(object), Mode::Store);
  }
}

bool GarbageCollector::has_blocking_dependents(const std::string& uid) const {
  const auto found = dependents_.find(uid);
  if (found == dependents_.end()) return false;
  return std::ranges::any_of(found->second, [&](const Place& place) {
    const ObjectPtr object = find(place);
    if (object == nullptr) return false;
    return std::ranges::any_of(
        (*object)["metadata"]["ownerReferences"].as_array(), [&](const json::Value& reference) {
          return reference["uid"].as_string() == uid && reference["blockOwnerDeletion"].as_bool();
        });
  });
}

void GarbageCollector::strip_finalizer(const Place& place, std::string_view finalizer) {
  const ObjectPtr old = find(place);
  json::Value object = *old;
  std::erase_if(object["metadata"]["finalizers"].array(),
                [&](const json::Value& each) { return each.as_string() == finalizer; });
  core_.store_change(*core_.journal_.tables()[place.table], old, std::move(object), Mode::Store);
}

GarbageCollector::Owner GarbageCollector::look_up(const json::Value& dependent,
                                                  const json::Value& reference) const {
  const Kind* kind =
      core_.kinds_.find_by_kind(reference["apiVersion"].as_string(), reference["kind"].as_string());
  if (kind == nullptr) return Owner::Solid;
  const auto found = living_.find(reference["uid"].as_string());
  if (found == living_.end()) return Owner::Absent;
  const Place& place = found->second;
  const bool same_kind = core_.journal_.tables()[place.table]->kind().is(kind->resource);
  const bool reachable = place.key.ns.empty() || place.key.ns == api::namespace_of(dependent);
  if (!same_kind || !reachable || place.key.name != reference["name"].as_string())
    return Owner::Absent;
  const ObjectPtr owner = find(place);
  const bool waiting =
      owner != nullptr && api::is_deleting(*owner) && has_finalizer(*owner, kForeground);
  return waiting ? Owner::Waiting : Owner::Solid;
}

}  // namespace muster::server
