#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "cli/context.h"
#include "cli/jobs/followed.h"
#include "cli/jobs/rank_filter.h"
#include "cli/terminal/rank_lines.h"
#include "cluster/cluster.h"
#include "cluster/reflector.h"
#include "rt/scope.h"

namespace muster::cli {

// Follows one job or pod: its object, its pods, and the logs of its ranks as one stream. Lives on
// the loop; close() before it is destroyed.
class JobFollower {
 public:
  struct Options {
    bool logs = true;
    RankFilter filter;
    bool prefix = true;
  };

  JobFollower(Context& context, cluster::Cluster& cluster, Followed followed, Screen& screen,
              Options options);
  ~JobFollower();

  void start();
  Task<void> close();

  // The job as last seen; null before it was, or once it is gone.
  [[nodiscard]] const cluster::ObjectPtr& job() const { return job_; }
  [[nodiscard]] bool gone() const { return gone_; }
  [[nodiscard]] bool finished() const;
  // Pods that still exist, by name.
  [[nodiscard]] const std::map<std::string, cluster::ObjectPtr>& pods() const { return pods_; }
  // Pulsed at every change.
  rt::Event& changed() { return changed_; }
  // Waits until every log that was begun has ended, but not longer than the limit.
  Task<void> drain_logs(Duration limit);

 private:
  class JobSink;
  class PodSink;

  void see_pod(const cluster::ObjectPtr& pod);
  Task<void> follow_log(api::ObjectKey pod, LogOrigin origin);

  Context& context_;
  cluster::Cluster& cluster_;
  Followed followed_;
  Options options_;
  RankLines lines_;
  rt::Event changed_;
  cluster::ObjectPtr job_;
  bool gone_ = false;
  std::map<std::string, cluster::ObjectPtr> pods_;
  std::set<std::string> begun_logs_;  // pod uid / container / restart count
  std::unique_ptr<JobSink> job_sink_;
  std::unique_ptr<PodSink> pod_sink_;
  std::unique_ptr<cluster::Reflector> job_reflector_;
  std::unique_ptr<cluster::Reflector> pod_reflector_;
  rt::TaskScope scope_;
  rt::TaskScope logs_;
};

}  // namespace muster::cli
