#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "cluster/reflector.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/task.h"

namespace muster::node {

// A copy of some objects by their keys that a reflector keeps up to date. Lives on the agent's
// loop; cluster and rng outlive it. Readers see whole lists only: until the first one is complete
// the copy is empty. Ends with close().
class FollowedObjects final : private cluster::Sink {
 public:
  using Objects = std::map<api::ObjectKey, api::ObjectPtr>;
  // Told of each object that came, changed or went (then `now` is null), after the copy has it.
  using OnChange = std::function<void(const api::ObjectPtr& before, const api::ObjectPtr& now)>;

  struct Parts {
    rt::Loop& loop;
    cluster::Cluster& cluster;
    Rng& rng;
    Logger log;
  };
  FollowedObjects(Parts parts, const api::Resource& resource, cluster::Selection where,
                  OnChange on_change);

  void start() { scope_.spawn(reflector_.run()); }
  Task<void> close() { return scope_.close(); }

  [[nodiscard]] const Objects& objects() const { return objects_; }
  [[nodiscard]] api::ObjectPtr find(const api::ObjectKey& key) const;
  Task<Result<void>> wait_synced() { return reflector_.synced().wait(); }

  // What a write of our own answered: readers see it at once instead of with the watch.
  void learn(const api::ObjectPtr& object);

 private:
  // cluster::Sink
  void begin() override { staged_.clear(); }
  void stage(std::vector<api::ObjectPtr> page) override;
  void commit(const std::string& resource_version) override;
  void apply(const cluster::WatchEvent& event) override;

  void put(const api::ObjectPtr& object);
  void drop(const api::ObjectKey& key);

  OnChange on_change_;
  Objects objects_;
  Objects staged_;
  cluster::Reflector reflector_;
  rt::TaskScope scope_;
};

}  // namespace muster::node
