#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "plan/plan.h"

namespace muster::cli {

// Which ranks' logs are wanted.
struct RankFilter {
  std::string role;     // empty: all, in any letter case
  std::set<int> ranks;  // empty: all

  [[nodiscard]] bool accepts(std::string_view role_name, int index) const;
};

// 0,4-7 as numbers; nothing when it is something else.
std::optional<std::set<int>> parse_ranks(std::string_view text);

struct KnownRank {
  std::string role;
  int index = 0;
  friend auto operator<=>(const KnownRank&, const KnownRank&) = default;
};

// The ranks that a job has by its plan.
std::vector<KnownRank> ranks_of(const plan::Plan& plan);

// NotFound when the filter names a role or a rank that is not among these; it names those that are,
// and the role that was meant.
Result<void> check_filter(const RankFilter& filter, const std::string& job,
                          const std::vector<KnownRank>& ranks);

// "Launcher 0, Worker 0-3,7"
std::string shown_ranks(const std::vector<KnownRank>& ranks);

}  // namespace muster::cli
