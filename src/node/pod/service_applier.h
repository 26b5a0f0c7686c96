#pragma once

#include "node/pod/subject.h"
#include "rt/task.h"

namespace muster::node {

// Keeps the service rules in the pod's sandbox as the node has them. A part of a worker: its task
// runs in the subject's scope.
class ServiceApplier {
 public:
  explicit ServiceApplier(PodSubject& subject) : subject_(subject) {}

  // Those that a new sandbox is made with.
  std::vector<ServiceRule> begin();
  // Returns when the sandbox has what the node had just now.
  Task<Result<void>> catch_up();
  // The node's rules may have changed.
  void look();

 private:
  Task<void> follow();
  // What the node has and the sandbox has not.
  [[nodiscard]] ServiceRules missing();

  PodSubject& subject_;
  ServiceRules applied_;
  bool following_ = false;
};

}  // namespace muster::node
