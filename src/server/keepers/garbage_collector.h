#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>

#include "rt/scope.h"
#include "rt/wait.h"
#include "server/store/journal.h"

namespace muster::server {

class Core;

// The garbage collector: removes objects none of whose owners exists any more (by uid), finishes
// foreground deletions when the dependents that block them are gone, and frees the dependents of an
// orphaning deletion. A task of its own on the core's loop, woken by writes; what it does goes the
// same way as anybody's write. An owner of a kind that this server does not keep counts as
// existing.
class GarbageCollector {
 public:
  explicit GarbageCollector(Core& core);

  void start();
  Task<void> close() { return scope_.close(); }

  void note(Table& table, const ObjectPtr& before, const ObjectPtr& after);

 private:
  // Which object: the kind's place in the table of kinds, and the key. Ordered, so that runs
  // repeat.
  struct Place {
    std::size_t table = 0;
    ObjectKey key;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  [[nodiscard]] Place place_of(const Table& table, const json::Value& object) const;
  [[nodiscard]] ObjectPtr find(const Place& place) const;
  void index(const Place& place, const json::Value& object);
  void forget(const Place& place, const json::Value& object);
  void enqueue(const Place& place);
  void enqueue_dependents(const std::string& uid);
  Task<void> run();

  void examine(const Place& place);
  bool finish_deletion(const Place& place, const json::Value& object);
  void orphan_dependents(const json::Value& owner);
  [[nodiscard]] bool has_blocking_dependents(const std::string& uid) const;
  void strip_finalizer(const Place& place, std::string_view finalizer);
  enum class Owner { Solid, Waiting, Absent };
  [[nodiscard]] Owner look_up(const json::Value& dependent, const json::Value& reference) const;

  Core& core_;
  std::map<std::string, Place> living_;                // by uid
  std::map<std::string, std::set<Place>> dependents_;  // by the owner's uid
  std::deque<Place> queue_;
  std::set<Place> queued_;
  rt::Event work_;
  rt::TaskScope scope_;
};

}  // namespace muster::server
