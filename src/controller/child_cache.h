#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
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

  // Whether a child that went without our asking has said something that must be looked at; makes
  // the view what it should look like then.
  using LastWords = std::function<bool(View& view)>;

  ChildCache(Make make, Changed changed, LastWords last_words = nullptr)
      : make_(std::move(make)), last_words_(std::move(last_words)), changed_(std::move(changed)) {}

  void begin() override {
    ++list_;
    staged_.clear();
  }

  // A page becomes views at once: a view is a tenth of its object. What did not change since it was
  // last seen needs no second view.
  void stage(std::vector<cluster::ObjectPtr> page) override {
    for (const auto& object : page) {
      const std::string owner = api::controller_uid_of(*object);
      if (owner.empty()) continue;
      const std::string uid = api::uid_of(*object);
      Entry* known = find(owner, uid);
      if (known != nullptr) known->list = list_;
      const std::uint64_t version = version_of(*object);
      if (known != nullptr && version <= known->version) continue;
      staged_[owner].insert_or_assign(
          uid, Entry{.version = version, .view = make_(*object), .list = list_});
    }
  }

  void commit(const std::string& resource_version) override {
    const std::uint64_t listed = cluster::version_number(resource_version);
    seen_ = std::max(seen_, listed);
    for (auto& [owner, entries] : std::exchange(staged_, {})) merge(by_owner_[owner], entries);
    std::map<std::string, bool> owners;  // whether they lost a child
    for (auto& [owner, entries] : by_owner_) {
      bool& lost = owners[owner];
      std::erase_if(entries, [&](const auto& uid_and_entry) {
        const Entry& entry = uid_and_entry.second;
        const bool gone = entry.list != list_ && entry.version <= listed;
        lost |= gone && !entry.asked;
        return gone;
      });
    }
    std::erase_if(by_owner_, [](const auto& owner) { return owner.second.empty(); });
    for (const auto& [owner, lost] : owners) changed_(owner, lost);
  }

  void apply(const cluster::WatchEvent& event) override {
    seen_ = std::max(seen_, version_of(*event.object));
    const std::string owner = api::controller_uid_of(*event.object);
    if (owner.empty()) return;
    if (event.type == cluster::EventType::Deleted) {
      erase(owner, *event.object);
    } else if (put_newer(owner, *event.object)) {
      changed_(owner, false);
    }
  }

  // The answer to a request of ours. If the stream is already past it and does not know the object,
  // it is gone again: false.
  bool learn(const json::Value& object) {
    const std::string owner = api::controller_uid_of(object);
    const bool known = find(owner, api::uid_of(object)) != nullptr;
    if (!known && version_of(object) <= seen_) return false;
    put_newer(owner, object);
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

  // Those that are gone and have not been looked at since; kept until they are buried.
  [[nodiscard]] std::vector<std::string> gone_of(const std::string& owner) const {
    std::vector<std::string> uids;
    if (const auto found = by_owner_.find(owner); found != by_owner_.end()) {
      for (const auto& [uid, entry] : found->second) {
        if (entry.gone) uids.push_back(uid);
      }
    }
    return uids;
  }
  void bury(const std::string& owner, const std::vector<std::string>& gone) {
    const auto found = by_owner_.find(owner);
    if (found == by_owner_.end()) return;
    for (const std::string& uid : gone) found->second.erase(uid);
    if (found->second.empty()) by_owner_.erase(found);
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

  // Calls `use` with those views in place of a copy: of a large job that is megabytes at each look.
  // Meanwhile nobody else may ask for them. What it changes stays so until there is news of a
  // child.
  template <class Use>
  auto lend(const std::string& owner, Use use) {
    std::vector<View> views;
    const auto found = by_owner_.find(owner);
    if (found == by_owner_.end()) return use(views);
    views.reserve(found->second.size());
    for (auto& [uid, entry] : found->second) views.push_back(std::move(entry.view));
    auto outcome = use(views);
    CHECK(views.size() == found->second.size());
    auto returned = views.begin();
    for (auto& [uid, entry] : found->second) entry.view = std::move(*returned++);
    return outcome;
  }

  [[nodiscard]] std::size_t count(const std::string& owner) const {
    const auto found = by_owner_.find(owner);
    return found == by_owner_.end() ? 0 : found->second.size();
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
    bool asked = false;      // we asked for its deletion
    bool gone = false;       // and its last words have not been heard
    std::uint64_t list = 0;  // the last list that held it
  };
  using Entries = std::map<std::string, Entry>;

  static std::uint64_t version_of(const json::Value& object) {
    return cluster::version_number(api::resource_version_of(object));
  }

  Entry* find(const std::string& owner, const std::string& uid) {
    const auto found = by_owner_.find(owner);
    if (found == by_owner_.end()) return nullptr;
    const auto entry = found->second.find(uid);
    return entry == found->second.end() ? nullptr : &entry->second;
  }

  bool put_newer(const std::string& owner, const json::Value& object) {
    const std::string uid = api::uid_of(object);
    const std::uint64_t version = version_of(object);
    if (const Entry* known = find(owner, uid); known != nullptr && version <= known->version) {
      return false;
    }
    Entry fresh{.version = version, .view = make_(object)};
    overtake(by_owner_[owner][uid], fresh);
    return true;
  }

  // Newer news about an object. Once we asked for its deletion it stays "going", whatever they say.
  static void overtake(Entry& known, Entry& fresh) {
    fresh.view.deleting |= known.view.deleting;
    known.version = fresh.version;
    known.view = std::move(fresh.view);
  }

  // Of a list, into what is known by now: nodes move, so that there is never a second copy of all.
  static void merge(Entries& known, Entries& listed) {
    known.merge(listed);
    for (auto& [uid, entry] : listed) {
      Entry& other = known.find(uid)->second;
      other.list = entry.list;
      if (entry.version > other.version) overtake(other, entry);
    }
  }

  void erase(const std::string& owner, const json::Value& object) {
    const auto found = by_owner_.find(owner);
    if (found == by_owner_.end()) return;
    const auto entry = found->second.find(api::uid_of(object));
    if (entry == found->second.end()) return;
    const bool lost = !entry->second.asked;
    if (!lost || !keep_last_words(entry->second, object)) found->second.erase(entry);
    if (found->second.empty()) by_owner_.erase(found);
    changed_(owner, lost);
  }

  bool keep_last_words(Entry& entry, const json::Value& object) {
    if (!last_words_) return false;
    View view = make_(object);
    if (!last_words_(view)) return false;
    entry.view = std::move(view);
    entry.version = version_of(object);
    entry.gone = true;
    return true;
  }

  Make make_;
  LastWords last_words_;
  Changed changed_;
  std::map<std::string, Entries> by_owner_;
  std::map<std::string, Entries> staged_;  // new or newer than what is known
  std::uint64_t list_ = 0;                 // the number of the list under way, or of the last one
  std::uint64_t seen_ = 0;
};

}  // namespace muster::controller
