#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/object.h"
#include "base/error.h"
#include "base/time.h"
#include "json/value.h"
#include "rt/task.h"

namespace muster::cli {

// A part of a line, or a line with its end.
struct LogPiece {
  Time at;           // of the line's beginning, as a number
  std::string time;  // and as the log has it
  bool error = false;
  std::string bytes;
};

// How far a container is, as its pod last said.
struct ContainerProgress {
  int attempt = 0;       // counts its runs, from 0
  bool started = false;  // at least one of them
  bool over = false;     // it writes nothing any more, and does not start again

  static ContainerProgress of(const json::Value& pod, const std::string& container);
};

// What is wanted of a log.
struct LogWindow {
  std::optional<Time> since;
  std::optional<int> tail;  // lines
};

// One container's output, from its beginning through all that it writes, also over its restarts.
// Goes on where the last read ended. Lives on one loop.
class ContainerLog {
 public:
  ContainerLog() = default;
  ContainerLog(const ContainerLog&) = delete;
  ContainerLog& operator=(const ContainerLog&) = delete;
  virtual ~ContainerLog() = default;

  virtual void see(const ContainerProgress& progress) = 0;
  // More of what is there at present; nothing: that was all.
  virtual Task<Result<std::vector<LogPiece>>> present() = 0;
};

}  // namespace muster::cli
