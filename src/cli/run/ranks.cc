#include "cli/run/ranks.h"

#include <vector>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "plan/index_set.h"
#include "plan/plan.h"

namespace muster::cli {

std::string stopped_ranks(const PodsByName& pods, const std::string& cause) {
  std::map<std::string, plan::IndexSet> ranks;  // by role
  for (const auto& [name, pod] : pods) {
    const bool told_to_go = api::is_deleting(*pod);
    if (!told_to_go || name == cause || api::phase_of(*pod) == api::PodPhase::Succeeded) continue;
    const auto index = parse_int(api::label_of(*pod, plan::labels::kIndex));
    if (index) ranks[api::label_of(*pod, plan::labels::kRole)].insert(static_cast<int>(*index));
  }
  std::vector<std::string> parts;
  for (const auto& [role, indexes] : ranks)
    parts.push_back(fmt::format("{} {}", role, indexes.text()));
  return join(parts, ", ");
}

}  // namespace muster::cli
