#include "cli/terminal/rank_bars.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cli {
namespace {

bool is_clock(std::string_view text) {
  return text.contains(':') &&
         std::ranges::all_of(text, [](char c) { return c == ':' || (c >= '0' && c <= '9'); });
}

// The part that says how far it is. tqdm's bars go on with " [00:04<00:05, 9.98it/s]", or with
// " [00:04, 9.98it/s]".
std::string_view how_far(std::string_view text) {
  for (auto at = text.find(" ["); at != std::string_view::npos; at = text.find(" [", at + 1)) {
    const std::string_view rest = text.substr(at + 2);
    const auto end = rest.find_first_of("<,");
    if (end != std::string_view::npos && is_clock(rest.substr(0, end))) return text.substr(0, at);
  }
  return text;
}

struct Group {
  std::string_view text;
  std::vector<const RankBar*> ranks;
};

std::vector<Group> grouped(const std::vector<RankBar>& bars) {
  std::vector<Group> groups;
  for (const RankBar& bar : bars) {
    const auto same = std::ranges::find_if(
        groups, [&](const Group& group) { return how_far(group.text) == how_far(bar.text); });
    if (same == groups.end()) {
      groups.push_back({.text = bar.text, .ranks = {&bar}});
    } else {
      same->ranks.push_back(&bar);
    }
  }
  return groups;
}

// w0-w3,w5
std::string names_of(const std::vector<const RankBar*>& ranks) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end]->role == ranks[i]->role &&
           ranks[end]->index == ranks[end - 1]->index + 1) {
      ++end;
    }
    const std::string first = rank_name(ranks[i]->role, ranks[i]->index);
    const std::string last = rank_name(ranks[end - 1]->role, ranks[end - 1]->index);
    names.push_back(end == i + 1 ? first : fmt::format("{}-{}", first, last));
    i = end;
  }
  return join(names, ",");
}

}  // namespace

std::vector<std::string> merged_bars(const Terminal& terminal, const std::vector<RankBar>& bars,
                                     std::size_t most) {
  const std::string_view bar = terminal.utf8 ? "│" : "|";
  const std::vector<Group> groups = grouped(bars);
  const std::size_t shown =
      groups.size() <= most ? groups.size() : most - std::min<std::size_t>(most, 1);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string names = names_of(groups[i].ranks);
    lines.push_back(names.empty() ? std::string(groups[i].text)
                                  : fmt::format("{} {} {}", names, bar, groups[i].text));
  }
  std::size_t others = 0;
  for (std::size_t i = shown; i < groups.size(); ++i) others += groups[i].ranks.size();
  if (others > 0 && most > 0) lines.push_back(fmt::format("{} more ranks", others));
  return lines;
}

std::string_view last_state(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  const auto overwritten = line.rfind('\r');
  return overwritten == std::string_view::npos ? line : line.substr(overwritten + 1);
}

}  // namespace muster::cli
