#pragma once

#include <memory>
#include <optional>

#include "json/value.h"
#include "node/pod/subject.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::node {

// Brings the pod's status into the API, as often as it takes, and tells the subject when it is
// there or the API has forgotten the pod. A part of a worker: its task runs in the subject's scope.
class PodStatusWriter {
 public:
  explicit PodStatusWriter(PodSubject& subject);

  using Status = std::shared_ptr<const json::Value>;

  void start() { subject_.scope.spawn(run()); }
  // The status that follows from what is known now: the same object until that changes.
  Status desired();
  // It may be new: written if it is.
  void look(const Status& wanted);
  // The API has it.
  [[nodiscard]] bool settled(const Status& wanted) const;

 private:
  enum class Outcome { Written, Gone, Retry, Cancelled };
  struct WorkedOut {
    api::ObjectPtr pod;
    PodFacts facts;
    Status status;
  };

  Task<void> run();
  Task<void> let_it_start();
  [[nodiscard]] bool can_wait() const;
  Task<Outcome> write();
  Task<Outcome> read_again();

  PodSubject& subject_;
  const bool tells_its_address_;
  std::optional<WorkedOut> worked_out_;
  Status last_written_;
  rt::Event dirty_;
  Monotonic on_its_way_until_{};
};

}  // namespace muster::node
