#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/resource.h"
#include "node/disk/pod_use.h"
#include "node/disk/verdict.h"
#include "node/runtime/runtime.h"
#include "node/volumes/disk_work.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/task.h"

namespace muster::node {

// Why a pod has to go.
struct Eviction {
  std::string message;
  bool for_node = false;  // for the sake of the node, not for what it took itself
};

// Looks at the disk that pods write to, measures them when something was written, and says who took
// more than it may; and while the disk is full, who gives back the most. Looks once a second while
// there are pods, four times a second while the disk runs low. Lives on the agent's loop; what it
// is made of outlives it. Ends with close().
class DiskKeeper {
 public:
  struct Parts {
    rt::Loop& loop;
    Runtime& runtime;
    DiskWork& disk;
    VolumePlaces places;
    std::function<std::vector<api::ObjectPtr>()> pods;  // those that have something here
    std::function<void(const std::string& uid, Eviction why)> evict;
    std::function<void(bool full)> told;  // the disk became full, or is so no longer
  };
  explicit DiskKeeper(Parts parts) : parts_(std::move(parts)), scope_(parts_.loop) {}

  void start() { scope_.spawn(run()); }
  Task<void> close() { return scope_.close(); }

  // Measures one pod now: it failed, perhaps because there was no room left for it.
  Task<void> look_at(api::ObjectPtr pod);

 private:
  Task<void> run();
  Task<void> look();
  Task<void> measure(api::ObjectPtr pod);
  [[nodiscard]] bool worth_measuring(const DiskSpace& space) const;
  void tell(bool full);
  void judge(const std::vector<api::ObjectPtr>& pods, const DiskSpace& space);
  // True: it has to go.
  bool judge_one(const api::ObjectPtr& pod, const DiskSpace& space);
  void relieve(const std::vector<api::ObjectPtr>& pods, const DiskSpace& space);
  void forget_gone(const std::vector<api::ObjectPtr>& pods);
  [[nodiscard]] std::int64_t taken() const;

  Parts parts_;
  std::map<std::string, PodDiskUse> uses_;  // by uid, as last measured
  std::set<std::string> leaving_;           // told to go, and still here
  bool low_ = false;
  bool full_ = false;
  std::optional<DiskSpace> measured_;  // how the disk stood then
  Monotonic measured_at_{};
  Monotonic not_before_{};
  rt::TaskScope scope_;
};

}  // namespace muster::node
