#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/logs/log_sink.h"

namespace muster::cli {

// Passes the output of a job's ranks on and remembers the end of it for each pod, for the case that
// it fails.
class LastLines final : public LogSink {
 public:
  explicit LastLines(LogSink& next) : next_(next) {}

  void bytes(const LogOrigin& origin, std::string_view time, std::string_view bytes) override;
  void ended(const LogOrigin& origin) override { next_.ended(origin); }

  // The last lines that are not empty, at most so many, oldest first.
  [[nodiscard]] std::vector<std::string> of(const std::string& pod, std::size_t count) const;

 private:
  struct End {
    std::string lines;                                            // whole, a few KiB of them
    std::map<std::pair<std::string, bool>, std::string> started;  // by container and stream
  };

  LogSink& next_;
  std::map<std::string, End> ends_;  // by pod
};

}  // namespace muster::cli
