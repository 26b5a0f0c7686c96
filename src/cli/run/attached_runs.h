#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/run/attached_run.h"

namespace muster::cli {

// The jobs and pods of one command, followed together: their output as one stream, a line of the
// status area for each. Lives on the loop for the time of follow().
class AttachedRuns {
 public:
  AttachedRuns(Context& context, OpenCluster& target, Screen& screen, Interruption& interruption,
               std::vector<Followed> followed, Origin origin);

  // Until all are over. The first code that is not 0, of whichever ends first.
  Task<int> follow();
  // In the order in which they were given.
  [[nodiscard]] std::vector<RunResult> results() const;

 private:
  Task<void> relay_interruptions();
  Task<void> follow_one(AttachedRun& run);
  void tell_stopping();
  void tell_detached();
  void show_progress();
  [[nodiscard]] std::vector<std::string> unfinished() const;

  rt::Event changed_;
  Attachment shared_;
  std::vector<std::unique_ptr<AttachedRun>> runs_;
  int code_ = 0;
  bool told_stopping_ = false;
};

}  // namespace muster::cli
