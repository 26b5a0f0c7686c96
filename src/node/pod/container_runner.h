#pragma once

#include <map>
#include <memory>
#include <string>

#include "node/pod/preparation.h"
#include "node/pod/probes.h"
#include "node/pod/stopper.h"
#include "node/pod/subject.h"
#include "rt/task.h"

namespace muster::node {

// Starts the pod's containers, waits for their ends and probes them in between; what it learns goes
// into the facts. A part of a worker: its tasks run in the subject's scope, and close() ends the
// probes after that.
class ContainerRunner {
 public:
  ContainerRunner(PodSubject& subject, PodPreparation& preparation, PodStopper& stopper)
      : subject_(subject), preparation_(preparation), stopper_(stopper) {}

  // The facts say that it is starting.
  void start(const std::string& name, int attempt);
  // Takes over what an earlier life left running and what ended meanwhile.
  void adopt(const AdoptedSandbox& adopted);
  // What the API saw running and the runtime does not know is gone, and must not begin again as if
  // it had never been there.
  void mark_lost();
  void stop_probes();
  Task<void> close();

 private:
  Task<void> run_start(std::string name, int attempt);
  Task<Result<StartOutcome>> ask_runtime(std::string name, int attempt);
  void started(ContainerFacts& container, int attempt, const ContainerStart& start);
  void is_up(ContainerFacts& container);
  Task<void> run_post_start(std::string name, int attempt);
  void could_not_start(ContainerFacts& container, int attempt, const StartOutcome& outcome);
  void hold(ContainerFacts& container, std::string reason, const std::string& message);
  Task<void> watch(std::string name, int attempt);
  Task<void> count_lost_files(std::string name, int attempt);
  // What it wrote goes with it; where the whole pod is over, all of it goes together.
  void discard(const std::string& name, int attempt);
  Task<void> discard_written(std::string name, int attempt);
  void ended(ContainerFacts& container, int attempt, const ContainerExit& exit);
  void record_ending(ContainerFacts& container, Ending ending);
  void start_probes(const ContainerFacts& container);
  void stop_probes(const std::string& name);
  static Task<void> retire(std::unique_ptr<Prober> prober);
  void on_verdict(const std::string& name, int attempt, Prober::Verdict verdict);
  void on_unhealthy(const std::string& name, int attempt, ProbeKind kind);

  PodSubject& subject_;
  PodPreparation& preparation_;
  PodStopper& stopper_;
  std::map<std::string, std::unique_ptr<Prober>> probers_;  // by container; of the current attempt
};

}  // namespace muster::node
