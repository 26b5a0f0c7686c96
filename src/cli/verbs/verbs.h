#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/completion/completing.h"
#include "cli/context.h"
#include "cli/jobs/rank_filter.h"
#include "cli/manifests/for_run.h"
#include "node/agent/taint.h"
#include "rt/task.h"

// One function a verb; each returns the process's exit code and prints its own errors.
namespace muster::cli {

struct RunOptions {
  std::vector<std::string> files;
  SubmissionOptions submission;  // how they are taken
  bool dry_run = false;
  std::string output;  // of a dry run: yaml or json; else json: the result on standard output
  bool detach = false;
  bool remove = false;  // --rm: take back what was created, at the end
  std::string report;   // files for the result
  std::string junit;
};
Task<int> run(Context& context, RunOptions options);

struct FollowOptions {
  std::vector<std::string> words;  // NAME, TYPE/NAME or TYPE NAME
};
Task<int> attach(Context& context, FollowOptions options);

struct UpOptions {
  bool quiet = false;
  std::optional<std::uint16_t> api_port;
};
Task<int> up(Context& context, UpOptions options);

// The control plane as a process of its own; see cli/plane/launch.h.
Task<int> plane(Context& context);

struct ImagesOptions {
  std::vector<std::string> files;  // manifests; none: the rows themselves
};
int images(const Context& context, const ImagesOptions& options);

struct ExplainOptions {
  std::string field;  // KIND[.FIELD…]
};
int explain(const Context& context, const ExplainOptions& options);

struct GetOptions {
  // RESOURCE[,RESOURCE…], RESOURCE NAME…, RESOURCE/NAME…, or NAMEs of jobs; none: all jobs
  std::vector<std::string> words;
  std::string output;
  std::string labels;
  std::string fields;
  std::string sort_by;
  bool headers = true;
  bool watch = false;
};
Task<int> get(Context& context, GetOptions options);

struct DescribeOptions {
  std::vector<std::string> words;  // as of `get`
  std::string labels;
};
Task<int> describe(Context& context, DescribeOptions options);

struct LogsOptions {
  std::string name;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<int> tail;
  std::optional<Duration> since;  // how long ago, at most
  std::optional<Time> since_time;
  bool failed = false;    // only ranks that did
  std::string container;  // empty: all
  RankFilter filter;
  bool prefix = true;
};
Task<int> logs(Context& context, LogsOptions options);

struct HistoryOptions {
  std::string name;    // empty: all
  std::string output;  // json, or a table
};
Task<int> history(Context& context, HistoryOptions options);

struct TopOptions {
  std::string name;  // of a job; empty: everything that runs
  bool once = false;
  std::string output;
};
Task<int> top(Context& context, TopOptions options);

struct ExecVerbOptions {
  std::vector<std::string> words;  // NAME, TYPE/NAME or TYPE NAME of a job or a pod
  std::string role;
  std::optional<int> rank;
  std::string container;
  bool input = false;
  bool terminal = false;
  std::vector<std::string> command;
};
Task<int> exec(Context& context, ExecVerbOptions options);

struct DeleteOptions {
  std::vector<std::string> words;  // NAME… of jobs, TYPE/NAME…, TYPE NAME…, or TYPE to select from
  std::vector<std::string> files;
  std::string labels;
  bool all = false;
  bool ignore_not_found = false;
  bool wait = true;
  std::optional<int> grace_seconds;
};
Task<int> remove(Context& context, DeleteOptions options);

struct WaitOptions {
  std::vector<std::string> words;  // NAME…, TYPE/NAME… or TYPE NAME…
  std::string condition = "finished";
  std::optional<Duration> timeout;
};
Task<int> wait(Context& context, WaitOptions options);

struct PauseOptions {
  std::vector<std::string> words;  // NAME…, TYPE/NAME… or TYPE NAME… of jobs
  bool wait = true;                // until nothing of it runs
};
Task<int> pause(Context& context, PauseOptions options);

struct ResumeOptions {
  std::vector<std::string> words;
};
Task<int> resume(Context& context, ResumeOptions options);

struct OperatorOptions {
  std::string ns;
  std::vector<std::string> kinds;  // plural, kind or plural.group; empty: all
  bool leader_elect = false;
  bool take_over = false;
  std::string lease_namespace = "muster-system";
  std::string metrics_address = "127.0.0.1:8080";
  std::string health_address = "127.0.0.1:8081";
};
Task<int> run_operator(Context& context, OperatorOptions options);

struct NodeVerbOptions {
  std::string name;
  std::string client_ca;
  std::string address = "127.0.0.1";
  std::string pod_range;  // empty: what the cluster gives the node, else our own
  std::string service_range;
  std::string taint = std::string(node::kProcessesTaint);  // empty: none
};
Task<int> node(Context& context, NodeVerbOptions options);

struct DoctorOptions {
  std::string output;  // json, or a line for each check
};
// Of the cluster that is named, or of this machine.
Task<int> doctor(Context& context, DoctorOptions options);

int version(Output& output, const std::string& format);

// The script of a shell: bash, zsh or fish.
int completion(Output& output, const std::string& shell);
// For those scripts: what may stand at the cursor, a word a line, its meaning behind a tab, and
// ":files" where the shell should offer files.
Task<int> complete(Context& context, Completing wanted);

}  // namespace muster::cli
