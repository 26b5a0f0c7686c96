#include "cli/terminal/rank_lines.h"

#include <fmt/format.h>

#include "cli/terminal/rank_bars.h"

namespace muster::cli {
namespace {

// A rank that prints no newline for this long a stretch gets its line cut.
constexpr std::size_t kLongestLine = std::size_t{64} << 10U;
// The rest of a line usually comes with the next piece: only after a while it is worth showing.
constexpr Duration kPatience = std::chrono::milliseconds(200);
// Longer than any window is wide.
constexpr std::size_t kLongestBar = 2048;

// How many bytes of the text make whole characters.
std::size_t whole_characters(std::string_view text) {
  std::size_t size = text.size();
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    if (length > back) size = text.size() - back;
    break;
  }
  return size;
}

// A rank by its role and index. A pod that is no rank is alone: only its containers are told apart.
// Before it the job, where there are several.
std::string prefix_of(const Terminal& terminal, const LogOrigin& origin, const std::string& job) {
  const std::string whose = job.empty() ? "" : job + " ";
  if (!origin.role.empty())
    return whose + line_prefix(terminal, origin.role, origin.index, origin.index == 0);
  if (origin.alone) return job.empty() ? "" : whose + (terminal.utf8 ? "│ " : "| ");
  return whose + origin.container + " | ";
}

}  // namespace

RankLines::RankLines(Screen& screen, Options options)
    : screen_(screen),
      options_(std::move(options)),
      part_(screen, [this](std::size_t most) { return bars(most); }) {}

RankLines::Key RankLines::key_of(const LogOrigin& origin) {
  return {origin.role, origin.index, origin.pod, origin.container, origin.error};
}

RankLines::Rank& RankLines::rank_of(const LogOrigin& origin) {
  if (latest_ != nullptr && latest_->origin == origin) return *latest_;
  const auto [found, is_new] = ranks_.try_emplace(key_of(origin));
  if (is_new) {
    found->second.origin = origin;
    if (options_.prefix) found->second.prefix = prefix_of(screen_.terminal(), origin, options_.job);
  }
  latest_ = &found->second;
  return found->second;
}

void RankLines::bytes(const LogOrigin& origin, std::string_view time, std::string_view bytes) {
  Rank& rank = rank_of(origin);
  if (rank.rest.empty()) rank.time = time;
  for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    if (rank.rest.empty()) {
      print(rank, bytes.substr(0, end));
    } else {
      rank.rest += bytes.substr(0, end);
      print(rank, rank.rest);
      rank.rest.clear();
      part_.changed();
    }
    rank.time = time;
    bytes.remove_prefix(end + 1);
  }
  if (!bytes.empty()) keep(rank, bytes);
}

void RankLines::keep(Rank& rank, std::string_view rest) {
  if (rank.rest.empty()) rank.rest_since = screen_.loop().monotonic();
  rank.rest += rest;
  part_.changed();
  // What was overwritten nobody misses; what is still too long is cut.
  const auto states = std::string_view(rank.rest).substr(0, rank.rest.find_last_not_of('\r') + 1);
  if (const auto overwritten = states.rfind('\r'); overwritten != std::string_view::npos)
    rank.rest.erase(0, overwritten + 1);
  while (rank.rest.size() > kLongestLine) {
    const auto size = whole_characters(std::string_view(rank.rest).substr(0, kLongestLine));
    print(rank, std::string_view(rank.rest).substr(0, size));
    rank.rest.erase(0, size);
  }
}

void RankLines::ended(const LogOrigin& origin) {
  Rank& rank = rank_of(origin);
  if (!rank.rest.empty()) print(rank, rank.rest);
  ranks_.erase(key_of(origin));
  latest_ = nullptr;
  part_.changed();
}

void RankLines::print(const Rank& rank, std::string_view line) {
  const bool color = screen_.terminal().color;
  line_ = rank.prefix;
  if (options_.timestamps) line_.append(rank.time).append(" ");
  const std::size_t begin = line_.size();
  append_safe(line_, last_state(line), color);
  // The next line does not begin in its colours.
  if (color && line_.find('\x1b', begin) != std::string::npos) line_ += "\x1b[0m";
  screen_.job_line(line_);
}

std::string_view RankLines::seen_unfinished(const Rank& rank) {
  if (rank.rest.empty()) return {};
  if (screen_.loop().monotonic() - rank.rest_since >= kPatience)
    return last_state(rank.rest).substr(0, kLongestBar);
  part_.changed();  // looked at again soon
  return {};
}

std::vector<StatusLine> RankLines::bars(std::size_t most) {
  std::vector<RankBar> bars;
  for (const auto& [key, rank] : ranks_) {
    const std::string_view text = seen_unfinished(rank);
    if (text.empty()) continue;
    bars.push_back({.role = options_.prefix ? rank.origin.role : "",
                    .index = rank.origin.index,
                    .text = safe_line(text, false)});
  }
  std::vector<StatusLine> lines;
  for (std::string& line : merged_bars(screen_.terminal(), bars, most))
    lines.emplace_back("", options_.job, options_.job.empty() ? std::move(line) : " " + line);
  return lines;
}

}  // namespace muster::cli
