#include "cli/cluster/node_metrics.h"

#include "api/object.h"
#include "node/runtime/runtime.h"

namespace muster::cli {

NodeMetrics::NodeMetrics(Context& context)
    : context_(context),
      meter_(context.loop, [this](std::string uid) { return read(std::move(uid)); }) {}

Task<std::vector<node::linux::ContainerUsage>> NodeMetrics::read(std::string pod_uid) {
  auto counters =
      co_await context_.pool.run(context_.loop, [roots = *roots_, uid = std::move(pod_uid)] {
        return node::linux::usage_of_pod(roots, uid);
      });
  co_return counters ? std::move(*counters) : std::vector<node::linux::ContainerUsage>();
}

Task<std::vector<server::PodMetrics>> NodeMetrics::measure(std::vector<server::ObjectPtr> pods) {
  if (!roots_) roots_ = node::linux::find_cgroups(node::home_key(context_.home));
  std::vector<std::string> uids;
  for (const auto& pod : pods) uids.push_back(api::uid_of(*pod));
  const auto usage = co_await meter_.measure(std::move(uids));
  std::vector<server::PodMetrics> metrics;
  for (const auto& pod : pods) {
    const auto found = usage.find(api::uid_of(*pod));
    if (found == usage.end()) continue;
    server::PodMetrics of_pod{.pod = pod, .window = found->second.window, .containers = {}};
    for (const node::UsageRate& rate : found->second.containers) {
      of_pod.containers.push_back({.container = rate.container,
                                   .cpu_nanocores = rate.cpu_nanocores,
                                   .memory_bytes = rate.memory_bytes,
                                   .others = {}});
    }
    metrics.push_back(std::move(of_pod));
  }
  co_return metrics;
}

}  // namespace muster::cli
