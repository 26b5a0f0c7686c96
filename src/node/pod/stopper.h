#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "node/pod/subject.h"
#include "rt/task.h"

namespace muster::node {

// Ends containers as their manifests want it: preStop, SIGTERM, and SIGKILL when the grace period
// is over. A part of a worker: its tasks run in the subject's scope.
class PodStopper {
 public:
  explicit PodStopper(PodSubject& subject) : subject_(subject) {}

  // All that run. May be called again with a shorter grace period; never lengthens it.
  void stop_all(Duration grace);
  // One run of one container; a second call for it changes nothing.
  void stop(const std::string& name, int attempt, Duration grace);

 private:
  Task<void> run(std::string name, int attempt, Time deadline);
  Task<void> run_pre_stop(std::string name, int attempt, Time deadline);
  [[nodiscard]] Time limit(Time deadline) const;
  [[nodiscard]] bool goes_on(const std::string& name, int attempt) const;

  PodSubject& subject_;
  std::set<std::pair<std::string, int>> under_way_;
  std::optional<Time> deadline_;  // of all
};

}  // namespace muster::node
