#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cli/context.h"
#include "cli/jobs/rank_filter.h"
#include "cli/logs/api_log.h"
#include "cli/logs/file_log.h"
#include "cli/logs/log_sink.h"
#include "cluster/cluster.h"
#include "rt/scope.h"

namespace muster::cli {

// A container whose pod may be gone; its log is kept on this machine.
struct KeptContainer {
  LogOrigin origin;
  std::string pod_uid;
  std::string directory;  // of the pod's logs
  int attempt = 0;        // the last run
};

// The logs of a job's ranks, or of a pod, as one stream: what is there merged by time, what comes
// as it comes. Pods of this machine are read from their files, others through the API. Lives on the
// context's loop; what it is given outlives it; close() before it is destroyed.
class RankLogs {
 public:
  struct Options {
    RankFilter filter;
    std::set<std::string> pods;  // their names; empty: all
    std::string container;       // empty: all
    LogWindow window;
    bool previous = false;
    bool first_run = false;  // begin with a container's first run, not with its latest
    bool init = false;       // init containers, too
    bool goes_on = false;    // follow() comes after what is there
    // Told once for each reason why a log cannot be read; without: standard error is.
    std::function<void(const std::string&)> note;
  };
  RankLogs(Context& context, cluster::Cluster& cluster, LogSink& sink, Options options);
  ~RankLogs();

  // A pod as it is now, one that is gone for good, and one that may only have left its logs.
  void see(const json::Value& pod);
  void forget(const std::string& pod_uid);
  void see_kept(const KeptContainer& container);
  // The same, for a rank of which no log was found: just that run of the container.
  void see_last(const KeptContainer& container);

  // Gives all that there is now. With a tail, that many lines of all of it.
  Task<Result<void>> show_present();
  // That was all: lines that never ended are given as they are.
  void finish_all();
  // Ends show_present() early.
  void stop() { stopped_ = true; }
  // From now on: what is there and what comes, until drain() or close().
  void follow();
  // Waits until all that was written has come, but not longer than the limit.
  Task<void> drain(Duration limit);
  Task<void> close();

  [[nodiscard]] bool wants_all_runs() const { return options_.first_run; }
  [[nodiscard]] std::size_t count() const { return logs_.size(); }
  [[nodiscard]] std::size_t refused() const { return refused_; }
  // Says what could not be read, each reason once.
  void tell_troubles();

 private:
  struct Entry {
    LogOrigin origin;
    std::string pod_uid;
    std::unique_ptr<FileLog> file;  // one of the two
    std::unique_ptr<ApiLog> api;
    ContainerProgress progress;
    bool both = false;  // something came of standard error, too
    bool done = false;

    [[nodiscard]] ContainerLog& log() { return file ? static_cast<ContainerLog&>(*file) : *api; }
  };
  struct Trouble {
    Error error;
    std::set<std::tuple<std::string, int, std::string>> whose;  // role, index, name
    bool told = false;
  };

  [[nodiscard]] bool wanted(const LogOrigin& origin) const;
  // Null: it is not wanted, or known already.
  Entry* add_file(const KeptContainer& container, int attempt);
  Entry& add(std::string key, LogOrigin origin, std::string pod_uid);
  void see_container(const json::Value& pod, const std::string& container, LogOrigin origin);
  void give(Entry& entry, const LogPiece& piece);
  void finish(Entry& entry);
  void refuse(const LogOrigin& origin, const Error& error);
  bool poll(Entry& entry);
  Task<void> poll_files();
  Task<void> follow_api(Entry& entry);

  Context& context_;
  cluster::Cluster& cluster_;
  LogSink& sink_;
  Options options_;
  const bool local_;
  std::map<std::string, std::unique_ptr<Entry>> logs_;  // by pod uid / container
  std::map<std::string, Trouble> troubles_;             // by reason
  std::size_t refused_ = 0;
  bool stopped_ = false;
  bool following_ = false;
  bool finishing_ = false;
  static constexpr Duration kSoon = std::chrono::milliseconds(10);
  Duration wait_ = kSoon;  // until files are looked at again: soon while something happens
  rt::Event woken_;
  rt::TaskScope scope_;
};

}  // namespace muster::cli
