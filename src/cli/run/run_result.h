#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/jobs/followed.h"
#include "cli/run/failure.h"

namespace muster::cli {

// How one job or pod that was followed ended.
struct RunResult {
  enum class Ended {
    Succeeded,
    Failed,
    Stopped,   // by Ctrl-C
    Deleted,   // by somebody else, before its end
    Refused,   // it can never start
    Detached,  // it goes on without us
  };
  api::Resource resource;
  api::ObjectKey key;
  std::string uid;
  Ended ended = Ended::Detached;
  int exit_code = 0;
  JobView view;
  std::string message;  // one sentence, where it did not succeed
  FailureNotes notes;
  std::optional<Time> created;
  std::optional<Time> finished;
  Duration took{};
};

std::string_view to_string(RunResult::Ended ended);

// One object, documented as stable in docs/cli.md. `error`: why nothing could be run.
json::Value report_of(const std::vector<RunResult>& results, int code, const std::string& error);

// The same for what reads JUnit's XML: a test for each job.
std::string junit_of(const std::vector<RunResult>& results, const std::string& error);

}  // namespace muster::cli
