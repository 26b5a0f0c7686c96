#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/jobs/job_view.h"

namespace muster::cli {

// What is known of a job that failed, beside what its status says.
struct FailureNotes {
  std::vector<std::string> last_lines;  // of the rank that failed first
  std::string stopped;                  // those that had to stop because of it: Worker 0-2
  std::string deadline;                 // deadline_of() the job
  std::string again;                    // the command that runs it once more
};

// "exit 3", "killed by signal 9 (SIGKILL)", "out of memory (OOMKilled, exit 137)".
std::string ended_how(const plan::Cause& cause);

// What happened, as one sentence without its full stop.
std::string failure_sentence(const JobView& job, const FailureNotes& notes = {});

// Who failed first and why, for people, a line for each thing to know; empty for a job that did not
// fail.
std::string root_cause(const Context& context, const JobView& job, const std::string& name,
                       const FailureNotes& notes = {});

// The field that limits how long a job or pod may run, with its value:
// "spec.runPolicy.activeDeadlineSeconds: 30"; empty: it has none.
std::string deadline_of(const json::Value& object);

}  // namespace muster::cli
