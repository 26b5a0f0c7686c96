#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/logs/container_log.h"

namespace muster::cli {

// A log as an API gives it with timestamps: each line begins with its time. Can be read again from
// the time of its last line on, and gives only what was not there the first time: an API knows no
// better place to go on from, and many lines may have one time. A line without a time belongs to
// the time before it.
class StampedText {
 public:
  // From where to ask for it the next time; nothing: from its beginning.
  [[nodiscard]] std::optional<Time> resume_from() const;
  // What is fed next was asked for with resume_from().
  void begin_again();
  // The container was started again: what comes now is of its next run, on a line of its own.
  void begin_next_run();
  // Any bytes of it; what is known of a line is given at once.
  void feed(std::string_view bytes, std::vector<LogPiece>& pieces);

 private:
  enum class Where { InTime, InLine, InSkippedLine };

  std::string_view take_time(std::string_view bytes, std::vector<LogPiece>& pieces);
  void begin_line(std::optional<Time> at);
  void give(std::string_view bytes, std::vector<LogPiece>& pieces);
  void end_line();

  Where where_ = Where::InTime;
  std::string stamp_;  // the time of the line, as far as it came
  Time line_at_{};
  std::size_t position_ = 0;  // in the line

  // What has been given: the latest time, how many whole lines of it, how much of one more.
  std::optional<Time> last_;
  std::size_t lines_of_last_ = 0;
  std::size_t bytes_of_line_ = 0;

  bool owes_end_ = false;  // of a line that the run before did not end

  // What of it comes again.
  bool repeating_ = false;
  std::size_t lines_to_skip_ = 0;
  std::size_t bytes_to_skip_ = 0;
};

}  // namespace muster::cli
