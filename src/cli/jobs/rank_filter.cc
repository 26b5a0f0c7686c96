#include "cli/jobs/rank_filter.h"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/command_line/suggest.h"

namespace muster::cli {
namespace {

// 0-3,7
std::string shown_numbers(const std::set<int>& numbers) {
  std::string out;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first;
    for (auto next = std::next(first); next != numbers.end() && *next == *last + 1; ++next)
      last = next;
    out += fmt::format("{}{}", out.empty() ? "" : ",", *first);
    if (last != first) out += fmt::format("-{}", *last);
    first = std::next(last);
  }
  return out;
}

}  // namespace

bool RankFilter::accepts(std::string_view role_name, int index) const {
  if (!role.empty() && !equal_ignoring_case(role, role_name)) return false;
  return ranks.empty() || ranks.contains(index);
}

std::optional<std::set<int>> parse_ranks(std::string_view text) {
  std::set<int> ranks;
  for (const std::string_view part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > 1'000'000) return std::nullopt;
    for (auto rank = *first; rank <= *last; ++rank) ranks.insert(static_cast<int>(rank));
  }
  return ranks;
}

std::vector<KnownRank> ranks_of(const plan::Plan& plan) {
  std::vector<KnownRank> ranks;
  for (const plan::Role& role : plan.roles) {
    for (int index = 0; index < role.replicas; ++index)
      ranks.push_back({.role = role.name, .index = index});
  }
  return ranks;
}

std::string shown_ranks(const std::vector<KnownRank>& ranks) {
  std::vector<std::string> roles;  // in their order
  std::map<std::string, std::set<int>> indices;
  for (const KnownRank& rank : ranks) {
    if (indices[rank.role].empty()) roles.push_back(rank.role);
    indices[rank.role].insert(rank.index);
  }
  std::vector<std::string> shown;
  for (const std::string& role : roles)
    shown.push_back(fmt::format("{} {}", role, shown_numbers(indices[role])));
  return join(shown, ", ");
}

Result<void> check_filter(const RankFilter& filter, const std::string& job,
                          const std::vector<KnownRank>& ranks) {
  std::vector<std::string> roles;
  std::string known;  // the role as it is spelled
  for (const KnownRank& rank : ranks) {
    if (std::ranges::find(roles, rank.role) == roles.end()) roles.push_back(rank.role);
    if (equal_ignoring_case(filter.role, rank.role)) known = rank.role;
  }
  const std::string has = ranks.empty() ? "no ranks" : shown_ranks(ranks);
  if (!filter.role.empty() && known.empty()) {
    return fail(ErrorCode::NotFound,
                fmt::format("job \"{}\" has no role {}{}; it has {}", job, printable(filter.role),
                            did_you_mean(filter.role, roles), has));
  }
  for (const int index : filter.ranks) {
    const bool there = std::ranges::any_of(ranks, [&](const KnownRank& rank) {
      return rank.index == index && (known.empty() || rank.role == known);
    });
    if (!there) {
      return fail(ErrorCode::NotFound, fmt::format("job \"{}\" has no {} {}; it has {}", job,
                                                   known.empty() ? "rank" : known, index, has));
    }
  }
  return {};
}

}  // namespace muster::cli
