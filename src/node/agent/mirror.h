#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/log.h"
#include "cluster/cluster.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::node {

// A copy of some objects that follows the cluster: lists, then watches, lists again when the watch
// is too old. Lives on the agent's loop; the cluster outlives it. Readers see whole lists only:
// until the first one is complete, synced() is false and the copy is empty. Ends with close().
class Mirror {
 public:
  using Objects = std::map<api::ObjectKey, api::ObjectPtr>;
  // Told of each object that came, changed or went (then `now` is null), after the copy has it.
  using OnChange = std::function<void(const api::ObjectPtr& before, const api::ObjectPtr& now)>;

  struct Target {
    api::Resource resource;
    cluster::Selection where;
  };

  Mirror(rt::Loop& loop, cluster::Cluster& cluster, Target target, OnChange on_change, Logger log)
      : loop_(loop),
        cluster_(cluster),
        target_(std::move(target)),
        on_change_(std::move(on_change)),
        log_(std::move(log)),
        synced_(loop),
        scope_(loop) {}

  void start() { scope_.spawn(follow()); }
  void request_stop() { scope_.request_stop(); }
  Task<void> close() { return scope_.close(); }

  [[nodiscard]] const Objects& objects() const { return objects_; }
  [[nodiscard]] api::ObjectPtr find(const api::ObjectKey& key) const;
  [[nodiscard]] bool synced() const { return synced_.is_set(); }
  Task<Result<void>> wait_synced() { return synced_.wait(); }

  // What a write of our own answered: readers see it at once instead of with the watch.
  void learn(const api::ObjectPtr& object);

 private:
  Task<void> follow();
  Task<Result<void>> list_all();
  Task<Result<void>> watch_changes();
  void apply(const cluster::WatchEvent& event);
  void put(const api::ObjectPtr& object);
  void drop(const api::ObjectKey& key);

  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  Target target_;
  OnChange on_change_;
  Logger log_;
  Objects objects_;
  std::string version_;
  bool must_list_ = true;
  rt::Event synced_;
  rt::TaskScope scope_;
};

}  // namespace muster::node
