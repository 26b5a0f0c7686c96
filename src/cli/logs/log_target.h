#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/cluster/open_cluster.h"
#include "cli/history/run_record.h"
#include "cli/jobs/followed.h"
#include "cli/logs/rank_logs.h"
#include "cli/objects/object_names.h"

namespace muster::cli {

// Whose logs, as a user writes it: NAME of a job or pod, or TYPE/NAME; each with @RUN for one run
// of several, RUN being the beginning of its id.
struct LogName {
  ObjectName object;
  std::string run;
};
Result<LogName> parse_log_name(const plan::Registry& registry, const std::string& text);
// Whether it may be that run, in whichever namespace.
bool names_run(const LogName& name, const RunRecord& run);

// One run of it: of what exists in the cluster, or of what this machine remembers.
struct LogTarget {
  api::ObjectKey key;
  std::optional<Followed> followed;  // it exists
  std::vector<cluster::ObjectPtr> pods;
  std::optional<RunRecord> record;
  std::string only_pod;              // not empty: just this one of them is meant
  std::optional<plan::Cause> cause;  // why it failed

  // The last pod of every rank that is gone, with the logs that it left in the home.
  [[nodiscard]] std::vector<KeptContainer> kept(const std::string& home) const;
  // Those before them, each rank's last one; for whoever asks what ran before.
  [[nodiscard]] std::vector<KeptContainer> kept_before(const std::string& home) const;
  // Names of pods that ended badly by themselves.
  [[nodiscard]] std::set<std::string> failed_pods() const;
  // "Scheduler 0, Worker 0, Worker 1, …"
  [[nodiscard]] std::string ranks() const;
};

// What a pod that may be gone left in the home.
std::vector<KeptContainer> kept_containers(const std::string& home, const RunRecord& run,
                                           const RecordedPod& pod);

// The run that is meant: that one, else what exists under the name, else the newest that is
// remembered, also by the name of a pod of it. NotFound says where it was looked for.
Task<Result<LogTarget>> find_log_target(Context& context, OpenCluster& target, LogName name);

}  // namespace muster::cli
