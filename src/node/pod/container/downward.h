#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "json/value.h"

// What the downward API tells a pod about itself.
namespace muster::node {

// Known to the node before the API knows it.
struct Place {
  std::string node_name;
  std::string host_ip;
  std::string pod_ip;
  std::int64_t allocatable_cpu_milli = 0;  // what a container without limits may use
  std::int64_t allocatable_memory_bytes = 0;
};

// metadata.name, metadata.labels['x'], spec.nodeName, status.podIP and so on; whole metadata.labels
// and metadata.annotations (for volumes) come as key="value" lines in order of their keys.
Result<std::string> field_value(const json::Value& pod, std::string_view path, const Place& place);

// limits.cpu, requests.memory and so on, divided by the divisor and rounded up. A limit that is not
// set is what the node has; a request that is not set is the limit that is, else nothing.
Result<std::string> resource_field_value(const json::Value& pod, const json::Value& reference,
                                         std::string_view own_container, const Place& place);

}  // namespace muster::node
