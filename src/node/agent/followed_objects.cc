#include "node/agent/followed_objects.h"

#include "api/object.h"

namespace muster::node {

namespace {

std::uint64_t version_of(const json::Value& object) {
  return cluster::version_number(api::resource_version_of(object));
}

bool is_same_object(const json::Value& a, const json::Value& b) {
  return api::uid_of(a) == api::uid_of(b);
}

// Versions of one server are numbers that grow; where they are not, the newcomer counts.
bool is_older(const json::Value& a, const json::Value& b) {
  return version_of(a) < version_of(b);
}

}  // namespace

FollowedObjects::FollowedObjects(Parts parts, const api::Resource& resource,
                                 cluster::Selection where, OnChange on_change)
    : on_change_(std::move(on_change)),
      reflector_(parts.loop, parts.cluster, resource, std::move(where), *this, parts.rng,
                 std::move(parts.log)),
      scope_(parts.loop) {}

api::ObjectPtr FollowedObjects::find(const api::ObjectKey& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : found->second;
}

void FollowedObjects::learn(const api::ObjectPtr& object) {
  // Only what we follow, and only forward: the watch may be ahead of the answer.
  const auto known = find(api::key_of(*object));
  if (known && is_same_object(*known, *object) && is_older(*known, *object)) put(object);
}

void FollowedObjects::stage(std::vector<api::ObjectPtr> page) {
  for (auto& object : page) {
    auto key = api::key_of(*object);
    staged_[std::move(key)] = std::move(object);
  }
}

void FollowedObjects::commit(const std::string& resource_version) {
  const auto listed = cluster::version_number(resource_version);
  const auto fresh = std::exchange(staged_, {});
  std::vector<api::ObjectKey> gone;
  for (const auto& [key, object] : objects_) {
    if (!fresh.contains(key) && version_of(*object) <= listed) gone.push_back(key);
  }
  for (const auto& key : gone) drop(key);
  for (const auto& [key, object] : fresh) {
    const auto known = find(key);
    const bool same = known && is_same_object(*known, *object) &&
                      api::resource_version_of(*known) == api::resource_version_of(*object);
    if (!same) put(object);
  }
}

void FollowedObjects::apply(const cluster::WatchEvent& event) {
  if (event.type == cluster::EventType::Deleted) {
    drop(api::key_of(*event.object));
  } else {
    put(event.object);
  }
}

void FollowedObjects::put(const api::ObjectPtr& object) {
  auto& slot = objects_[api::key_of(*object)];
  // Late news: learn() was faster.
  if (slot && is_same_object(*slot, *object) && is_older(*object, *slot)) return;
  const auto before = slot;
  slot = object;
  on_change_(before, object);
}

void FollowedObjects::drop(const api::ObjectKey& key) {
  const auto found = objects_.find(key);
  if (found == objects_.end()) return;
  const auto before = found->second;
  objects_.erase(found);
  on_change_(before, nullptr);
}

}  // namespace muster::node
