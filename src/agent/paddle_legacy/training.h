#pragma once

#include <optional>
#include <string>

#include "agent/child.h"
#include "agent/ending.h"
#include "agent/paddle_legacy/options.h"
#include "agent/paddle_legacy/roster.h"
#include "agent/paddle_legacy/settings.h"
#include "agent/verbs.h"
#include "rt/scope.h"

namespace muster::agent::paddle_legacy {

struct TrainingPlan {
  Settings settings;
  TrainOptions options;
  Roster roster;
  int id = 0;
  std::string directory;  // where both programs run
};

// The PServer and the trainer of one pod, from start to end. Lives for one run().
class Training {
 public:
  Training(VerbContext& context, Ending& ending, TrainingPlan plan);

  // Starts the PServer, waits for those of all pods, trains, and ends the PServer. Gives the
  // trainer's exit code.
  Task<Result<int>> run();

 private:
  [[nodiscard]] std::string log_path(const char* name) const;
  Result<void> start_server();
  Task<void> watch_server();
  [[nodiscard]] std::optional<Error> server_error() const;
  Task<void> stop_server();

  Task<Result<int>> train();
  Result<Child> start_trainer();
  Task<void> copy_output(int log);

  VerbContext& context_;
  Ending& ending_;
  TrainingPlan plan_;
  std::optional<Child> server_;
  std::optional<int> server_code_;
  rt::Event server_ended_;
  Child* trainer_ = nullptr;  // while it runs
  std::optional<rt::Descriptor> trainer_output_;
  rt::Event output_ended_;
  rt::TaskScope scope_;
};

}  // namespace muster::agent::paddle_legacy
