#include "dialects/kubeflow/kind.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace muster::dialects::kubeflow {

std::string_view to_string(RestartPolicy policy) {
  constexpr std::array<std::string_view, 4> kNames = {"Always", "OnFailure", "Never", "ExitCode"};
  return kNames.at(static_cast<std::size_t>(policy));
}

const RoleKind* find_role(const Kind& kind, std::string_view name) {
  const auto found = std::ranges::find_if(
      kind.roles, [&](const RoleKind& role) { return equal_ignoring_case(role.name, name); });
  return found == kind.roles.end() ? nullptr : &*found;
}

std::vector<std::string_view> role_names(const Kind& kind) {
  std::vector<std::string_view> names;
  for (const RoleKind& role : kind.roles) names.push_back(role.name);
  return names;
}

}  // namespace muster::dialects::kubeflow
