#pragma once

#include <map>
#include <memory>
#include <string>

#include "cli/context.h"
#include "cli/jobs/followed.h"
#include "cli/logs/rank_logs.h"
#include "cli/manifests/lost_files.h"
#include "cluster/cluster.h"
#include "cluster/reflector.h"
#include "rt/scope.h"

namespace muster::cli {

// Follows one job or pod: its object, its pods, and, where somebody takes them, the logs of its
// ranks. Lives on the loop; close() before it is destroyed.
class JobFollower {
 public:
  JobFollower(Context& context, cluster::Cluster& cluster, Followed followed);
  JobFollower(Context& context, cluster::Cluster& cluster, Followed followed, LogSink& sink,
              RankLogs::Options options);
  ~JobFollower();

  void start();
  Task<void> close();

  // The job as last seen, also once it is gone; null before it was seen.
  [[nodiscard]] const cluster::ObjectPtr& job() const { return job_; }
  [[nodiscard]] bool gone() const { return gone_; }
  [[nodiscard]] bool finished() const;
  // Pods that still exist, by name.
  [[nodiscard]] const std::map<std::string, cluster::ObjectPtr>& pods() const { return pods_; }
  // The same and those that are gone, as they were last seen.
  [[nodiscard]] const std::map<std::string, cluster::ObjectPtr>& last_seen() const {
    return last_seen_;
  }
  // All pods that there were at the start are known.
  [[nodiscard]] bool knows_pods() const { return knows_pods_; }
  // What its pods wrote and lost, also those that are gone.
  [[nodiscard]] const LostFiles& lost_files() const { return lost_files_; }
  // Pulsed at every change.
  rt::Event& changed() { return changed_; }
  // Of a follower that was given a sink. start() follows them; whoever wants what is there merged
  // by time asks for that first.
  RankLogs& logs() { return *logs_; }
  // Waits until everything that the ranks wrote has come, but not longer than the limit.
  Task<void> drain_logs(Duration limit);

 private:
  class JobSink;
  class PodSink;

  void see_pod(const cluster::ObjectPtr& pod);
  void lose_pod(const cluster::ObjectPtr& pod);
  void see_recorded_pods();

  Context& context_;
  cluster::Cluster& cluster_;
  Followed followed_;
  rt::Event changed_;
  cluster::ObjectPtr job_;
  bool gone_ = false;
  bool knows_pods_ = false;
  std::map<std::string, cluster::ObjectPtr> pods_;
  std::map<std::string, cluster::ObjectPtr> last_seen_;
  LostFiles lost_files_;
  std::unique_ptr<RankLogs> logs_;
  std::unique_ptr<JobSink> job_sink_;
  std::unique_ptr<PodSink> pod_sink_;
  std::unique_ptr<cluster::Reflector> job_reflector_;
  std::unique_ptr<cluster::Reflector> pod_reflector_;
  rt::TaskScope scope_;
};

}  // namespace muster::cli
