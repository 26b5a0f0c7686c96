#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/history/quota.h"
#include "cli/history/run_record.h"
#include "cluster/cluster.h"
#include "cluster/reflector.h"
#include "rt/scope.h"

namespace muster::cli {

// Writes down what runs in a home: every job, and every pod that nobody controls, with its pods and
// its end; and lets go of the oldest runs when there are too many. Part of a control plane: one of
// them a home. Lives on the context's loop; the cluster outlives it; close() before it is
// destroyed.
class HistoryKeeper {
 public:
  HistoryKeeper(Context& context, cluster::Cluster& cluster, Quota quota);
  ~HistoryKeeper();

  void start();
  Task<void> close();

 private:
  class Changes;

  RunRecord& run_of(const std::string& uid);
  void begin(const RunRecord& what);
  void see_job(const json::Value& job, const plan::Dialect& dialect, bool deleted);
  void see_pod(const json::Value& pod, bool deleted);
  void note_pod(const std::string& run_uid, RecordedPod now);
  void see_lone_pod(const json::Value& pod, bool deleted);
  void end(const std::string& uid, RecordedEnd how);
  void note_presence(const std::string& run_uid, const std::string& uid, bool gone);
  void write(const std::string& uid, const json::Value& line);
  Task<void> keep_quota();

  Context& context_;
  cluster::Cluster& cluster_;
  Quota quota_;
  std::map<std::string, RunRecord> runs_;                 // by uid: those that exist
  std::map<std::string, std::set<std::string>> present_;  // by run: it and its pods, that exist
  std::set<std::string> living_;  // uids of runs and pods that exist and have not ended
  std::vector<std::unique_ptr<cluster::Sink>> sinks_;
  std::vector<std::unique_ptr<cluster::Reflector>> reflectors_;
  bool complained_ = false;
  rt::Event ended_;  // a run did
  rt::TaskScope scope_;
};

}  // namespace muster::cli
