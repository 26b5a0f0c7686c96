#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "plan/dialect.h"

namespace muster::cli {

// What people want to know of a job, whatever its kind: its dialect says how far it is, and
// status.muster the rest.
struct JobView {
  plan::Phase phase = plan::Phase::Created;
  int ranks_ready = 0;
  int ranks = 0;
  std::int64_t restarts = 0;
  std::string reason;
  std::string message;
  plan::Ledger ledger;
  bool crash_loops = false;  // the program of a rank is between two tries

  static JobView from(const json::Value& job, const plan::Dialect& dialect);

  // A job's status is written now and then; its pods say how it stands at this moment. They are all
  // that the job has.
  void see(const std::vector<cluster::ObjectPtr>& pods);

  [[nodiscard]] bool finished() const { return plan::is_terminal(phase); }
  // The phase in the word that people see: Pending until something runs.
  [[nodiscard]] std::string_view state() const;
};

// The exit code that `run` and `wait` end with for a finished job.
int exit_code_for(const JobView& job);

}  // namespace muster::cli
