#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "node/agent/gpu_usage.h"
#include "node/agent/usage_meter.h"
#include "server/http/pod_metrics.h"

namespace muster::cli {

// What this machine's pods use, for the API server of the same process. Lives on the context's
// loop.
class NodeMetrics final : public server::MetricsSource {
 public:
  explicit NodeMetrics(Context& context);
  Task<std::vector<server::PodMetrics>> measure(std::vector<server::ObjectPtr> pods) override;

 private:
  using GpusOfPods = std::map<std::string, std::map<std::string, node::GpuUsage>>;  // by uid

  Task<std::vector<node::linux::ContainerUsage>> read(std::string pod_uid);
  Task<GpusOfPods> read_gpus(std::vector<std::string> uids);

  Context& context_;
  std::optional<node::linux::CgroupRoots> roots_;  // found when the first one asks
  node::UsageMeter meter_;
};

}  // namespace muster::cli
