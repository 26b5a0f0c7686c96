#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "json/value.h"
#include "net/http.h"
#include "rt/task.h"
#include "server/core.h"
#include "server/http/request_path.h"

// metrics.k8s.io/v1beta1: what pods use now, as metrics-server tells it on real clusters. Nothing
// of it is stored.
namespace muster::server {

struct ContainerMetrics {
  std::string container;
  std::int64_t cpu_nanocores = 0;
  std::int64_t memory_bytes = 0;
  // Of extended resources that somebody can look into: nvidia.com/gpu=1500m is one and a half GPUs
  // busy.
  std::vector<std::pair<std::string, std::string>> others;
};

struct PodMetrics {
  ObjectPtr pod;
  Duration window{};  // over which time was counted
  std::vector<ContainerMetrics> containers;
};

// Who knows what pods use; the node agent implements it.
class MetricsSource {
 public:
  virtual ~MetricsSource() = default;
  // Of those that run.
  virtual Task<std::vector<PodMetrics>> measure(std::vector<ObjectPtr> pods) = 0;
};

// The answer to a GET below the group; an error says why there is none. `source` may be null:
// nothing runs here.
Task<Result<net::HttpResponse>> serve_pod_metrics(Core& core, MetricsSource* source,
                                                  RequestPath path);

// What discovery says of it: of /apis/metrics.k8s.io, and of the version below.
json::Value metrics_group();
json::Value metrics_resources();

inline constexpr std::string_view kMetricsGroup = "metrics.k8s.io";

}  // namespace muster::server
