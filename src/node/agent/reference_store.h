#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/log.h"
#include "cluster/cluster.h"
#include "node/agent/followed_objects.h"
#include "node/pod/container/references.h"
#include "rt/scope.h"

namespace muster::node {

// The ConfigMaps and Secrets that pods of this node name, each followed while somebody uses it, and
// no others: a node has no business with the rest. Lives on the agent's loop. Ends with close().
class ReferenceStore {
 public:
  using OnChange = std::function<void(const std::string& ns, const Reference& reference)>;

  ReferenceStore(FollowedObjects::Parts parts, OnChange on_change)
      : parts_(std::move(parts)), on_change_(std::move(on_change)), scope_(parts_.loop) {}

  // Counted: every acquire has one release.
  void acquire(const std::string& ns, const std::set<Reference>& references);
  void release(const std::string& ns, const std::set<Reference>& references);

  // Waits until it is known of each whether it exists.
  Task<Result<void>> wait_known(std::string ns, std::set<Reference> references);
  [[nodiscard]] api::ObjectPtr find(const std::string& ns, const Reference& reference) const;

  Task<void> close();

 private:
  using Key = std::pair<std::string, Reference>;
  struct Entry {
    int users = 0;
    std::shared_ptr<FollowedObjects> copy;
  };
  static Task<void> retire(std::shared_ptr<FollowedObjects> copy);

  FollowedObjects::Parts parts_;
  OnChange on_change_;
  std::map<Key, Entry> entries_;
  rt::TaskScope scope_;
};

}  // namespace muster::node
