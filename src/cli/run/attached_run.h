#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/cluster/open_cluster.h"
#include "cli/jobs/job_follower.h"
#include "cli/jobs/waiting.h"
#include "cli/run/interruption.h"
#include "cli/run/last_lines.h"
#include "cli/run/run_result.h"
#include "cli/terminal/rank_lines.h"
#include "cli/terminal/screen.h"

namespace muster::cli {

// Where what is followed comes from.
struct Origin {
  bool ours = false;  // this command made it, and may take it away again
  std::string again;  // the command that would run it once more; empty: not known
};

// What all jobs of one command share; outlives their runs.
struct Attachment {
  Context& context;
  OpenCluster& target;
  Screen& screen;
  Interruption& interruption;
  Origin origin;
  bool several = false;  // more than one
  rt::Event& changed;    // pulsed when a run has something new to show
};

// Follows one job or pod to its end: its output, how far it is, what it waits for, how it ended. An
// interruption deletes it; beyond that only what is ours is ever stopped or deleted. Lives on the
// loop for the time of follow().
class AttachedRun {
 public:
  AttachedRun(Attachment& attachment, Followed followed);

  Task<void> follow();

  [[nodiscard]] const std::string& name() const { return followed_.key.name; }
  // As commands take it.
  [[nodiscard]] std::string spelling() const { return followed_.spelling(); }
  [[nodiscard]] bool is_over() const { return over_; }
  // For the status area, while it is not over.
  [[nodiscard]] StatusLine progress() const;
  [[nodiscard]] const RunResult& result() const { return result_; }

 private:
  Task<void> until_over();
  Task<void> relay_interruptions();
  Task<void> look_for_an_operator();
  [[nodiscard]] JobView view() const;
  [[nodiscard]] std::vector<cluster::ObjectPtr> pods() const;
  [[nodiscard]] std::optional<Waiting> waiting() const;
  [[nodiscard]] std::optional<Waiting> hopeless() const;
  void tell_changes();
  void tell_waiting();
  Task<void> finish(JobView view);
  void tell_end();
  Task<void> wait_for_clean_up();
  Task<void> stop_running();
  Task<void> stop();
  Task<void> give_up(Waiting waiting);
  void was_deleted();
  enum class How { Gently, AtOnce };
  Task<void> delete_and_wait(How how);
  Task<bool> ask_to_delete(bool& told);
  void tell_of_collector();
  Task<void> kill_pods();
  void ended(RunResult::Ended how, int code, std::string message = "");

  Attachment& shared_;
  Followed followed_;
  RankLines lines_;
  LastLines output_;
  JobFollower follower_;
  Monotonic begun_;
  RunResult result_;
  bool over_ = false;
  bool started_ = false;
  bool suspended_ = false;
  std::set<std::string> told_;  // what its pods waited for
};

}  // namespace muster::cli
