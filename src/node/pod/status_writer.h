#pragma once

#include "json/value.h"
#include "node/pod/subject.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::node {

// Brings the pod's status into the API, as often as it takes, and tells the subject when it is
// there or the API has forgotten the pod. A part of a worker: its task runs in the subject's scope.
class PodStatusWriter {
 public:
  explicit PodStatusWriter(PodSubject& subject) : subject_(subject), dirty_(subject.node.loop) {}

  void start() { subject_.scope.spawn(run()); }
  // The status that follows from what is known now.
  [[nodiscard]] json::Value desired() const;
  // It may be new: written if it is.
  void look(const json::Value& wanted);
  // The API has it.
  [[nodiscard]] bool settled(const json::Value& wanted) const;

 private:
  enum class Outcome { Written, Gone, Retry, Cancelled };

  Task<void> run();
  Task<Outcome> write();
  Task<Outcome> read_again();

  PodSubject& subject_;
  json::Value last_written_;
  rt::Event dirty_;
};

}  // namespace muster::node
