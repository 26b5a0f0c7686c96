#include "cli/run/last_lines.h"

#include "base/strings.h"
#include "cli/terminal/rank_bars.h"

namespace muster::cli {
namespace {

// A few lines of a traceback; a thousand ranks keep less than 10 MiB.
constexpr std::size_t kKept = std::size_t{4} << 10U;

// What a terminal would show of a line, in which a progress bar may have moved.
std::string_view shown(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  return last_state(line);
}

}  // namespace

void LastLines::bytes(const LogOrigin& origin, std::string_view time, std::string_view bytes) {
  next_.bytes(origin, time, bytes);
  End& end = ends_[origin.pod];
  std::string& started = end.started[{origin.container, origin.error}];
  started += bytes.size() > kKept ? bytes.substr(bytes.size() - kKept) : bytes;
  // A line of one stream never breaks into one of the other.
  if (const auto last = started.rfind('\n'); last != std::string::npos) {
    end.lines.append(started, 0, last + 1);
    started.erase(0, last + 1);
  }
  // Rarely, so that a line costs what its bytes cost.
  for (std::string* text : {&end.lines, &started}) {
    if (text->size() > 2 * kKept) text->erase(0, text->size() - kKept);
  }
}

std::vector<std::string> LastLines::of(const std::string& pod, std::size_t count) const {
  const auto found = ends_.find(pod);
  std::vector<std::string> lines;
  if (found == ends_.end()) return lines;
  const auto add = [&](const std::string& text) {
    for (const std::string_view line : split(text, '\n')) {
      if (!shown(line).empty()) lines.emplace_back(shown(line));
    }
  };
  add(found->second.lines);
  for (const auto& [stream, text] : found->second.started) add(text);
  if (lines.size() > count)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  return lines;
}

}  // namespace muster::cli
