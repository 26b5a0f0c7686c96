#include "controller/job_cache.h"

namespace muster::controller {

using cluster::version_number;

// What is known already in that version is staged as the object we have: one copy, not two.
void JobCache::stage(std::vector<cluster::ObjectPtr> page) {
  for (auto& job : page) {
    auto known = find(api::key_of(*job));
    const bool same = known && api::uid_of(*known) == api::uid_of(*job) &&
                      api::resource_version_of(*known) == api::resource_version_of(*job);
    staged_.push_back(same ? std::move(known) : std::move(job));
  }
}

void JobCache::commit(const std::string& resource_version) {
  const std::map<api::ObjectKey, cluster::ObjectPtr> old = std::exchange(jobs_, {});
  by_uid_.clear();
  for (const auto& job : std::exchange(staged_, {})) put(job);
  const std::uint64_t listed = version_number(resource_version);
  for (const auto& [key, job] : old) {
    // Newer than the list: a write of ours that the list could not know.
    if (version_number(api::resource_version_of(*job)) > listed) put(job);
    if (!jobs_.contains(key)) changed_(key);
  }
  for (const auto& [key, job] : jobs_) changed_(key);
}

void JobCache::apply(const cluster::WatchEvent& event) {
  const api::ObjectKey key = api::key_of(*event.object);
  if (event.type == cluster::EventType::Deleted) {
    forget(key, api::uid_of(*event.object));
  } else if (put(event.object)) {
    changed_(key);
  }
}

void JobCache::forget(const api::ObjectKey& key, const std::string& uid) {
  const auto found = jobs_.find(key);
  if (found == jobs_.end() || api::uid_of(*found->second) != uid) return;
  drop(key);
  changed_(key);
}

void JobCache::learn(const cluster::ObjectPtr& job) {
  // Only about a job that is still there: its deletion may have overtaken the answer.
  const auto found = jobs_.find(api::key_of(*job));
  if (found != jobs_.end() && api::uid_of(*found->second) == api::uid_of(*job)) put(job);
}

cluster::ObjectPtr JobCache::find(const api::ObjectKey& key) const {
  const auto found = jobs_.find(key);
  return found == jobs_.end() ? nullptr : found->second;
}

const api::ObjectKey* JobCache::key_of(const std::string& uid) const {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? nullptr : &found->second;
}

bool JobCache::put(const cluster::ObjectPtr& job) {
  const api::ObjectKey key = api::key_of(*job);
  if (const auto found = jobs_.find(key); found != jobs_.end()) {
    const bool newer = version_number(api::resource_version_of(*job)) >
                       version_number(api::resource_version_of(*found->second));
    if (!newer) return false;
    drop(key);
  }
  by_uid_[api::uid_of(*job)] = key;
  jobs_[key] = job;
  return true;
}

void JobCache::drop(const api::ObjectKey& key) {
  const auto found = jobs_.find(key);
  by_uid_.erase(api::uid_of(*found->second));
  jobs_.erase(found);
}

}  // namespace muster::controller
