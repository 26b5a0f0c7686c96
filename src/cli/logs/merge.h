#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "cli/logs/container_log.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::cli {

// What several logs have at present, as one stream in the order of time. Of equal times the earlier
// log comes first, and of one log nothing is ever moved. Holds one window of each log, or as many
// lines as `tail` asks for.
class LogMerge {
 public:
  // False: no more is wanted.
  using Give = std::function<bool(std::size_t log, const LogPiece& piece)>;
  using Refuse = std::function<void(std::size_t log, const Error& error)>;

  // The logs outlive it.
  LogMerge(rt::Loop& loop, std::vector<ContainerLog*> logs, Give give, Refuse refuse)
      : loop_(loop), sources_(logs.size()), give_(std::move(give)), refuse_(std::move(refuse)) {
    for (std::size_t i = 0; i < logs.size(); ++i) sources_[i].log = logs[i];
  }

  // Only the last lines of all of them: they are given when all is read.
  void keep_tail(std::size_t lines) { tail_ = lines; }
  // Ends early only when it is cancelled.
  Task<Result<void>> run();

 private:
  struct Source {
    ContainerLog* log = nullptr;
    std::vector<LogPiece> window;
    std::size_t next = 0;
    Time due{};        // never falls, so that no line overtakes one of its own log
    LogPiece line[2];  // for a tail: the unfinished one of each stream
  };

  Task<Result<bool>> refill(std::size_t source);
  Task<void> fill(std::size_t source, rt::Gate& gate, std::optional<Error>& cancelled);
  Task<Result<void>> fill_all();

  rt::Loop& loop_;
  std::vector<Source> sources_;
  Give give_;
  Refuse refuse_;
  std::optional<std::size_t> tail_;
};

}  // namespace muster::cli
