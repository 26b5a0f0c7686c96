#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/event.h"
#include "rt/scope.h"
#include "rt/wait.h"
#include "server/store/journal.h"
#include "server/volumes/directories.h"

namespace muster::server {

class Core;

// Binds claims to volumes, makes volumes for claims of our own classes (directories of this
// machine), keeps claims while a pod uses them, and gives volumes back by their reclaim policy.
// Every look begins at the objects, so a crash at any point is picked up again. A task on the
// core's loop, woken by writes. Without `directories` nothing is made for claims.
class VolumeKeeper {
 public:
  VolumeKeeper(Core& core, VolumeDirectories* directories);

  void start();
  Task<void> close() { return scope_.close(); }

  void note(const Table& table, const ObjectPtr& before, const ObjectPtr& after);
  // The storage classes that every home has; those that are there stay as they are.
  void seed();

 private:
  Task<void> run();
  void look_at_claim(const ObjectPtr& claim);
  void look_at_deleted_claim(const ObjectPtr& claim);
  void bind_or_provide(const ObjectPtr& claim);
  void bind(const ObjectPtr& claim, const ObjectPtr& volume);
  void provide(const ObjectPtr& claim);
  Task<void> make_volume(ObjectPtr claim, ObjectPtr storage_class);
  Task<Result<void>> make_for(ObjectPtr claim, ObjectPtr storage_class);
  void look_at_volume(const ObjectPtr& volume);
  void give_back(const ObjectPtr& volume);
  Task<void> remove_volume(ObjectPtr volume, std::string directory);

  // What people read: the claim waits, the volume failed. Once for each new sentence.
  void tell(const ObjectPtr& about, api::EventSeverity severity, const char* reason,
            const std::string& message);
  void set_phase(const ObjectPtr& object, const char* phase, const std::string& message = "");
  void store(const ObjectPtr& old, json::Value changed);
  [[nodiscard]] Table& table_of(const json::Value& object) const;
  [[nodiscard]] std::vector<ObjectPtr> all(const api::Resource& resource) const;
  [[nodiscard]] ObjectPtr volume_named(const std::string& name) const;
  [[nodiscard]] bool has_claim(const json::Value& volume) const;

  Core& core_;
  VolumeDirectories* directories_;
  std::set<std::string> busy_;               // uids of claims and volumes with work under way
  std::map<std::string, std::string> told_;  // uid → the last sentence
  rt::Event work_;
  rt::TaskScope scope_;
};

}  // namespace muster::server
