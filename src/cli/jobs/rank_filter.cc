#include "cli/jobs/rank_filter.h"

#include "base/strings.h"

namespace muster::cli {

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

}  // namespace muster::cli
