#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace muster::cli {

// Which ranks' logs are wanted.
struct RankFilter {
  std::string role;     // empty: all, in any letter case
  std::set<int> ranks;  // empty: all

  [[nodiscard]] bool accepts(std::string_view role_name, int index) const;
};

// 0,4-7 as numbers; nothing when it is something else.
std::optional<std::set<int>> parse_ranks(std::string_view text);

}  // namespace muster::cli
