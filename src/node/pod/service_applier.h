#pragma once

#include "node/pod/subject.h"
#include "rt/task.h"

namespace muster::node {

// Keeps the service rules in the pod's sandbox as the node has them. A part of a worker: its task
// runs in the subject's scope.
class ServiceApplier {
 public:
  explicit ServiceApplier(PodSubject& subject) : subject_(subject) {}

  // For a new sandbox: returns when it has the rules.
  Task<Result<void>> apply_first();
  // The node's rules may have changed.
  void look();

 private:
  Task<void> follow();

  PodSubject& subject_;
  ServiceRules applied_;
  bool following_ = false;
};

}  // namespace muster::node
