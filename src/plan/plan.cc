#include "plan/plan.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace muster::plan {

const Role* Plan::role(std::string_view name) const {
  const auto found = std::ranges::find(roles, name, &Role::name);
  return found == roles.end() ? nullptr : &*found;
}

int Plan::total_replicas() const {
  return std::accumulate(roles.begin(), roles.end(), 0,
                         [](int sum, const Role& role) { return sum + role.replicas; });
}

std::string pod_name(const Plan& plan, const Role& role, int index) {
  return fmt::format("{}-{}-{}", plan.job.name, role.label_name, index);
}

}  // namespace muster::plan
