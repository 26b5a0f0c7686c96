#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/logs/log_sink.h"
#include "cli/terminal/screen.h"

namespace muster::cli {

// The output of several ranks as lines on a screen, each behind the name of its rank.
//
// A line is printed when it ends, with LF or CRLF, whole, and without anything that could steer a
// terminal. Of a line that overwrites itself (CR, as progress bars do) the last state counts. What
// a rank has not ended lives in the status area, one line for all ranks that agree. A line without
// an end is cut at 64 KiB.
class RankLines final : public LogSink {
 public:
  struct Options {
    bool prefix = true;
    bool timestamps = false;
    std::string job{};  // whose ranks they are, where several jobs share the screen
  };
  RankLines(Screen& screen, Options options);

  void bytes(const LogOrigin& origin, std::string_view time, std::string_view bytes) override;
  void ended(const LogOrigin& origin) override;

 private:
  // Role and index first: the order in which unfinished lines are shown. Pod, container, stream.
  using Key = std::tuple<std::string, int, std::string, std::string, bool>;
  struct Rank {
    LogOrigin origin;
    std::string prefix;
    std::string time;        // of the line in `rest`
    std::string rest;        // came without its end; the last state of it
    Monotonic rest_since{};  // when that began
  };

  static Key key_of(const LogOrigin& origin);
  Rank& rank_of(const LogOrigin& origin);
  void print(const Rank& rank, std::string_view line);
  void keep(Rank& rank, std::string_view rest);
  [[nodiscard]] std::string_view seen_unfinished(const Rank& rank);
  [[nodiscard]] std::vector<StatusLine> bars(std::size_t most);

  Screen& screen_;
  Options options_;
  std::map<Key, Rank> ranks_;
  Rank* latest_ = nullptr;  // whoever wrote last, mostly writes next
  std::string line_;        // reused
  Screen::Part part_;
};

}  // namespace muster::cli
