#pragma once

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

}  // namespace muster::cli
