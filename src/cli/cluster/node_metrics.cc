#include "cli/cluster/node_metrics.h"

#include <fmt/format.h>

#include "api/object.h"
#include "node/agent/gpus.h"
#include "node/linux/files.h"
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

Task<NodeMetrics::GpusOfPods> NodeMetrics::read_gpus(std::vector<std::string> uids) {
  auto read = co_await context_.pool.run(
      context_.loop, [records = context_.home + "/node/gpus/", uids = std::move(uids)] {
        GpusOfPods of_pods;
        std::optional<std::map<std::string, node::GpuUsage>> gpus;  // asked for when one has some
        for (const std::string& uid : uids) {
          const auto record = node::linux::read_file(records + uid);
          if (!record) continue;
          if (!gpus) gpus = node::read_gpu_usage();
          of_pods[uid] = node::usage_by_container(*record, *gpus);
        }
        return of_pods;
      });
  co_return read ? std::move(*read) : GpusOfPods();
}

Task<std::vector<server::PodMetrics>> NodeMetrics::measure(std::vector<server::ObjectPtr> pods) {
  if (!roots_) roots_ = node::linux::find_cgroups(node::home_key(context_.home));
  std::vector<std::string> uids;
  for (const auto& pod : pods) uids.push_back(api::uid_of(*pod));
  auto gpus = co_await read_gpus(uids);
  const auto usage = co_await meter_.measure(std::move(uids));
  std::vector<server::PodMetrics> metrics;
  for (const auto& pod : pods) {
    const auto found = usage.find(api::uid_of(*pod));
    if (found == usage.end()) continue;
    server::PodMetrics of_pod{.pod = pod, .window = found->second.window, .containers = {}};
    auto& gpus_of_pod = gpus[found->first];
    for (const node::UsageRate& rate : found->second.containers) {
      server::ContainerMetrics of_container{.container = rate.container,
                                            .cpu_nanocores = rate.cpu_nanocores,
                                            .memory_bytes = rate.memory_bytes,
                                            .others = {}};
      if (const auto busy = gpus_of_pod.find(rate.container); busy != gpus_of_pod.end()) {
        of_container.others = {
            {node::kGpuResource, fmt::format("{}m", busy->second.busy_milli)},
            {"nvidia.com/gpu-memory", std::to_string(busy->second.memory_bytes)}};
      }
      of_pod.containers.push_back(std::move(of_container));
    }
    metrics.push_back(std::move(of_pod));
  }
  co_return metrics;
}

}  // namespace muster::cli
