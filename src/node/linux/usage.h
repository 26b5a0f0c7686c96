#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "node/linux/cgroup.h"

// What the processes of a cgroup use, as the kernel counts it.
namespace muster::node::linux {

struct ContainerUsage {
  std::string container;
  Duration cpu_time{};  // since it started
  std::int64_t memory_bytes = 0;
};

// utime, stime, cutime and cstime of /proc/PID/stat together, in clock ticks; nothing when the text
// is not one.
std::optional<std::int64_t> ticks_in(std::string_view stat);
// The number behind a word at the beginning of a line: usage_usec of cpu.stat.
std::optional<std::int64_t> counter_in(std::string_view text, std::string_view name);

// Of each container of a pod that has a cgroup now. Memory is what cannot be dropped at once, as
// the kubelet counts it.
std::vector<ContainerUsage> usage_of_pod(const CgroupRoots& roots, const std::string& pod_uid);

}  // namespace muster::node::linux
