#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/value.h"
#include "plan/dialect.h"
#include "plan/verdict.h"

namespace muster::cli {

// What people want to know of a job, whatever its kind: read from the ledger and the conditions.
struct JobView {
  std::string state;  // the last condition's type; Pending before there is one
  int ranks_ready = 0;
  int ranks = 0;
  std::int64_t restarts = 0;
  std::string reason;  // of the last condition
  std::string message;
  plan::Ledger ledger;
  bool finished = false;

  static JobView from(const json::Value& job, const plan::Dialect& dialect);
};

// The exit code that `run` and `wait` end with for a finished job.
int exit_code_for(const JobView& job);

// Who failed first and why, for people; empty for a job that did not fail.
std::string root_cause(const JobView& job, const std::string& name);

}  // namespace muster::cli
