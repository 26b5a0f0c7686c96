#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/reflector.h"
#include "engine/observed.h"

namespace muster::controller {

// What exists of one child kind, by the uid of the owning job; keeps only what the engine reads.
// Fed by a reflector and by the answers to our own writes, so that a decision never rests on less
// than what we did ourselves; older news about an object never replaces newer. Lives on the loop.
template <class View>
class ChildCache final : public cluster::Sink {
 public:
  using Make = std::function<View(const json::Value&)>;
  // `lost`: a child went that we had not asked to go; perhaps its owner went before.
  using Changed = std::function<void(const std::string& owner_uid, bool lost)>;

  ChildCache(Make make, Changed changed) : make_(std::move(make)), changed_(std::move(changed)) {}

  void replace(const std::vector<cluster::ObjectPtr>& objects,
               const std::string& resource_version) override {
    seen_ = std::max(seen_, cluster::version_number(resource_version));
    std::set<std::string> owners;
    std::map<std::string, Entries> fresh;
    for (const auto& object : objects) insert_into(fresh, *object, owners);
    std::set<std::string> lost;
    for (auto& [owner, entries] : by_owner_) {
      owners.insert(owner);
      for (auto& [uid, entry] : entries) {
        const bool newer = entry.version > seen_;
        const bool listed = fresh.contains(owner) && fresh[owner].contains(uid);
        if (!newer && !listed && !entry.asked) lost.insert(owner);
        if (newer) fresh[owner].try_emplace(uid, std::move(entry));
      }
    }
    by_owner_ = std::move(fresh);
    for (const auto& owner : owners) changed_(owner, lost.contains(owner));
  }

  void apply(const cluster::WatchEvent& event) override {
    seen_ = std::max(seen_, cluster::version_number(api::resource_version_of(*event.object)));
    const std::string owner = api::controller_uid_of(*event.object);
    if (owner.empty()) return;
    if (event.type == cluster::EventType::Deleted) {
      erase(owner, api::uid_of(*event.object));
    } else if (put(owner, *event.object)) {
      changed_(owner, false);
    }
  }

  // The answer to a request of ours. If the stream is already past it and does not know the object,
  // it is gone again: false.
  bool learn(const json::Value& object) {
    const std::string owner = api::controller_uid_of(object);
    const bool known = by_owner_.contains(owner) && by_owner_[owner].contains(api::uid_of(object));
    if (!known && cluster::version_number(api::resource_version_of(object)) <= seen_) return false;
    put(owner, object);
    return true;
  }

  // A delete that is about to be sent: when the object goes, it was our doing.
  void expect_deletion(const std::string& owner, const std::string& uid) {
    if (Entry* entry = find(owner, uid)) entry->asked = true;
  }

  // A delete that was answered: on its way out until the stream says that it is gone.
  void mark_deleting(const std::string& owner, const std::string& uid) {
    if (Entry* entry = find(owner, uid)) entry->view.deleting = true;
  }

  // Sorted by uid; the engine sorts by rank itself.
  [[nodiscard]] std::vector<View> of(const std::string& owner) const {
    std::vector<View> views;
    if (const auto found = by_owner_.find(owner); found != by_owner_.end()) {
      views.reserve(found->second.size());
      for (const auto& [uid, entry] : found->second) views.push_back(entry.view);
    }
    return views;
  }

  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (const auto& [owner, entries] : by_owner_) sum += entries.size();
    return sum;
  }

 private:
  struct Entry {
    std::uint64_t version = 0;
    View view;
    bool asked = false;  // we asked for its deletion
  };
  using Entries = std::map<std::string, Entry>;

  Entry* find(const std::string& owner, const std::string& uid) {
    const auto found = by_owner_.find(owner);
    if (found == by_owner_.end()) return nullptr;
    const auto entry = found->second.find(uid);
    return entry == found->second.end() ? nullptr : &entry->second;
  }

  bool put(const std::string& owner, const json::Value& object) {
    const std::uint64_t version = cluster::version_number(api::resource_version_of(object));
    auto [entry, added] = by_owner_[owner].try_emplace(api::uid_of(object));
    if (!added && version <= entry->second.version) return false;
    // Once we asked for its deletion it stays "going", whatever an older event says.
    const bool was_deleting = !added && entry->second.view.deleting;
    entry->second = {.version = version, .view = make_(object), .asked = entry->second.asked};
    entry->second.view.deleting |= was_deleting;
    return true;
  }

  void erase(const std::string& owner, const std::string& uid) {
    const auto found = by_owner_.find(owner);
    if (found == by_owner_.end()) return;
    const auto entry = found->second.find(uid);
    if (entry == found->second.end()) return;
    const bool lost = !entry->second.asked;
    found->second.erase(entry);
    if (found->second.empty()) by_owner_.erase(found);
    changed_(owner, lost);
  }

  void insert_into(std::map<std::string, Entries>& fresh, const json::Value& object,
                   std::set<std::string>& owners) {
    const std::string owner = api::controller_uid_of(object);
    if (owner.empty()) return;
    const std::uint64_t version = cluster::version_number(api::resource_version_of(object));
    fresh[owner].insert_or_assign(api::uid_of(object),
                                  Entry{.version = version, .view = make_(object)});
    owners.insert(owner);
  }

  Make make_;
  Changed changed_;
  std::map<std::string, Entries> by_owner_;
  std::uint64_t seen_ = 0;
};

}  // namespace muster::controller
