#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "cli/cluster/open_cluster.h"
#include "cli/jobs/followed.h"
#include "cli/jobs/job_follower.h"
#include "cli/terminal/rank_lines.h"
#include "cli/terminal/screen.h"

namespace muster::cli {

// What a person did to an attached run.
struct Interruption {
  explicit Interruption(rt::Loop& loop) : happened(loop) {}
  int count = 0;
  rt::Event happened;
};

// Counts the signals by which people end a run. Runs until cancelled.
Task<void> watch_signals(rt::RealLoop& loop, Interruption& interruption);

// Follows one job or pod to its end: logs, a line of progress, the exit code. An interruption
// deletes it. Lives on the loop for the time of follow(); what it is given outlives it.
class AttachedRun {
 public:
  AttachedRun(Context& context, OpenCluster& target, Screen& screen, Interruption& interruption,
              Followed followed);

  Task<int> follow();

 private:
  Task<void> relay_interruptions();
  Task<int> until_over();
  void tell_suspension();
  void tell_waiting();
  [[nodiscard]] StatusLine progress() const;
  Task<int> finish();
  Task<void> wait_for_clean_up();
  Task<void> stop_running();
  [[nodiscard]] int running() const;
  [[nodiscard]] bool anything_leaving() const;
  Task<int> interrupted();
  Task<int> give_up(std::string reason);
  Task<void> delete_and_wait(std::optional<int> grace);
  Task<void> kill_pods();

  Context& context_;
  OpenCluster& target_;
  Screen& screen_;
  Interruption& interruption_;
  Followed followed_;
  RankLines lines_;
  JobFollower follower_;
  Monotonic begun_;
  bool suspended_ = false;
  std::set<std::string> told_;  // what pods wait for
};

}  // namespace muster::cli
