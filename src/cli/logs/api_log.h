#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/logs/container_log.h"
#include "cli/logs/stamped_text.h"
#include "cluster/cluster.h"
#include "rt/loop.h"
#include "rt/wait.h"

namespace muster::cli {

// The log of a container as the API of its cluster gives it. Connections may break and servers
// restart: it goes on behind the last line that came. Cluster and loop outlive it.
class ApiLog final : public ContainerLog {
 public:
  struct Options {
    bool previous = false;  // only the run before the last start
    // more() will be asked for. A tail then has some lines in front of those that were asked for.
    bool goes_on = false;
    std::function<void(const Error&)> on_trouble;  // it cannot be read now; it is tried again
  };
  ApiLog(rt::Loop& loop, cluster::Cluster& cluster, cluster::ObjectKey pod, std::string container,
         LogWindow window, Options options);

  // False: no connection is held between two reads of what is there; for very many logs.
  void hold_open(bool hold) { hold_open_ = hold; }
  void see(const ContainerProgress& progress) override;
  Task<Result<std::vector<LogPiece>>> present() override;
  // Waits for more; nothing: no more will ever come.
  Task<Result<std::vector<LogPiece>>> more();

 private:
  enum class Mode { Present, Follow, Previous };

  Task<Result<void>> open(Mode mode);
  // What came of the stream; nothing at its end.
  Task<Result<std::vector<LogPiece>>> read_stream();
  void begin_next_run();
  Task<Result<void>> pause(Duration most);
  Task<Result<bool>> worth_another_try(Error why);

  rt::Loop& loop_;
  cluster::Cluster& cluster_;
  cluster::ObjectKey pod_;
  std::string container_;
  LogWindow window_;
  Options options_;
  ContainerProgress progress_;
  rt::Event changed_;
  StampedText text_;
  std::unique_ptr<cluster::LogStream> stream_;
  Mode mode_ = Mode::Present;
  ContainerProgress asked_;  // what was known when the stream was opened
  int attempt_ = -1;         // the run that was read last
  int failures_ = 0;
  bool hold_open_ = true;
  bool read_all_ = false;
};

}  // namespace muster::cli
