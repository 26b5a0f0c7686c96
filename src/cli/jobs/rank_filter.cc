#include "cli/jobs/rank_filter.h"

#include "base/strings.h"

namespace muster::cli {

bool RankFilter::accepts(std::string_view role_name, int index) const {
  if (!role.empty() && !equal_ignoring_case(role, role_name)) return false;
  return ranks.empty() || ranks.contains(index);
}

}  // namespace muster::cli
