#include "cli/run/operator_missing.h"

#include <string>
#include <vector>

#include "api/object.h"
#include "cluster/leader.h"

namespace muster::cli {
namespace {

bool is_fresh(const json::Value& lease, Time now) {
  const json::Value& spec = lease["spec"];
  const auto renewed = api::time_at(spec["renewTime"]);
  const auto duration = std::chrono::seconds(spec["leaseDurationSeconds"].as_int(15));
  return !spec["holderIdentity"].as_string().empty() && renewed && *renewed + duration > now;
}

}  // namespace

Task<bool> has_leader(cluster::Cluster& cluster, const plan::Dialect& dialect, Time now) {
  const std::vector<std::string> names = {cluster::LeaderOptions{}.name,
                                          dialect.identity().foreign_lease};
  for (const std::string& name : names) {
    if (name.empty()) continue;
    const auto leases =
        co_await cluster.list(api::leases(), {.where = {.fields = "metadata.name=" + name}});
    if (!leases) continue;  // not ours to read
    for (const auto& lease : leases->items) {
      if (is_fresh(*lease, now)) co_return true;
    }
  }
  co_return false;
}

}  // namespace muster::cli
