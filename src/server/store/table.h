#pragma once

#include <deque>
#include <map>
#include <optional>

#include "rt/wait.h"
#include "server/kinds.h"
#include "server/store/change.h"
#include "server/types.h"

namespace muster::server {

// The objects of one kind, in memory, in two states: `head` is what writes are decided on, `seen`
// is what is durable and therefore what readers get. They differ only while a commit runs. Durable
// changes also go into a ring, from which watchers read. Lives on the server's loop.
class Table {
 public:
  using Objects = std::map<ObjectKey, ObjectPtr>;

  struct Published {
    Version version = 0;
    EventType type = EventType::Added;
    ObjectPtr object;
    // As it was before; null for a creation, and when that is no longer known (older than the log).
    ObjectPtr before;
    ObjectPtr departed;     // made when it is asked for
    std::size_t bytes = 0;  // what is in memory for this entry alone
  };

  static constexpr std::size_t kRingSize = 4'096;

  Table(rt::Loop& loop, const Kind& kind, Version floor)
      : kind_(kind), floor_(floor), news_(loop) {}

  [[nodiscard]] const Kind& kind() const { return kind_; }
  [[nodiscard]] const Objects& head() const { return head_; }
  [[nodiscard]] const Objects& seen() const { return seen_; }
  [[nodiscard]] ObjectPtr find_head(const ObjectKey& key) const { return find(head_, key); }
  [[nodiscard]] ObjectPtr find_seen(const ObjectKey& key) const { return find(seen_, key); }

  // At the start: an object as it is, and a change of the log (oldest first).
  void load(ObjectKey key, ObjectPtr object);
  void remember(Published change);

  void put(const ObjectKey& key, ObjectPtr object) { head_[key] = std::move(object); }
  void erase(const ObjectKey& key) { head_.erase(key); }
  // The change is durable: readers and watchers see it from now on.
  void publish(const ObjectKey& key, Published change);

  // What all of the ring costs: objects as they were before, and deleted ones. What an entry shows
  // otherwise is what an object is now, or what the next entry shows as before.
  [[nodiscard]] std::size_t history_bytes() const { return history_bytes_; }
  // Drops the oldest change; false when only the newest is left.
  bool forget_oldest();
  // How an object was before the change of that version took it out of a selection.
  [[nodiscard]] ObjectPtr departed(Version version);

  // Every change after this version is in the ring.
  [[nodiscard]] Version floor() const { return floor_; }
  // The first change after the version; nothing when there is none yet.
  [[nodiscard]] const Published* after(Version version) const;
  // What was seen at the version; nothing when the ring does not reach back.
  [[nodiscard]] std::optional<Objects> snapshot(Version version) const;

  // Pulsed after publications; watchers wait on it.
  [[nodiscard]] rt::Event& news() { return news_; }

 private:
  static ObjectPtr find(const Objects& objects, const ObjectKey& key) {
    const auto found = objects.find(key);
    return found == objects.end() ? nullptr : found->second;
  }

  const Kind& kind_;
  Objects head_;
  Objects seen_;
  std::deque<Published> ring_;
  std::size_t history_bytes_ = 0;
  Version floor_;
  rt::Event news_;
};

}  // namespace muster::server
