#pragma once

#include <string>
#include <string_view>

namespace muster::cli {

// Where output comes from: one of the two streams of a container of a pod.
struct LogOrigin {
  std::string pod;
  std::string container;
  std::string role;  // empty: the pod is no rank of a job
  int index = 0;
  bool alone = true;   // its pod has no other container
  bool error = false;  // standard error, where the two can be told apart: its lines are its own

  friend auto operator<=>(const LogOrigin&, const LogOrigin&) = default;
};

// Takes the output of several ranks as they write it.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // Any piece of it, half a line or half a character too; as it was written. `time`: of the line in
  // which the piece begins, as the log has it.
  virtual void bytes(const LogOrigin& origin, std::string_view time, std::string_view bytes) = 0;
  // No more comes from there: the container ended, or its log cannot be read any further.
  virtual void ended(const LogOrigin& origin) = 0;
};

}  // namespace muster::cli
