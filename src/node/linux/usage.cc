#include "node/linux/usage.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/strings.h"
#include "node/linux/files.h"

namespace muster::node::linux {
namespace {

namespace fs = std::filesystem;

std::int64_t number_in(const std::string& path) {
  const auto text = read_file(path);
  return text ? parse_int(trim(*text)).value_or(0) : 0;
}

// v1 without cpuacct beside cpu: what its processes say, and of those that ended what their parents
// inherited.
Duration time_of_processes(const Cgroup& cgroup) {
  const std::int64_t ticks_a_second = std::max<std::int64_t>(1, ::sysconf(_SC_CLK_TCK));
  std::int64_t ticks = 0;
  for (const int pid : cgroup.processes()) {
    if (const auto stat = read_file(fmt::format("/proc/{}/stat", pid)))
      ticks += ticks_in(*stat).value_or(0);
  }
  return std::chrono::nanoseconds(1'000'000'000 / ticks_a_second * ticks);
}

Duration cpu_time(const CgroupRoots& roots, const std::string& relative) {
  const std::string directory = roots.cpu + "/" + relative;
  if (roots.version == CgroupRoots::Version::V2) {
    const auto stat = read_file(directory + "/cpu.stat");
    return std::chrono::microseconds(stat ? counter_in(*stat, "usage_usec").value_or(0) : 0);
  }
  if (const auto text = read_file(directory + "/cpuacct.usage"))
    return std::chrono::nanoseconds(parse_int(trim(*text)).value_or(0));
  return time_of_processes(Cgroup(roots, relative));
}

std::int64_t working_set(const CgroupRoots& roots, const std::string& relative) {
  const std::string directory = roots.memory + "/" + relative;
  const bool unified = roots.version == CgroupRoots::Version::V2;
  const auto used = number_in(directory + (unified ? "/memory.current" : "/memory.usage_in_bytes"));
  const auto stat = read_file(directory + "/memory.stat");
  const auto droppable =
      stat ? counter_in(*stat, unified ? "inactive_file" : "total_inactive_file").value_or(0) : 0;
  return std::max<std::int64_t>(0, used - droppable);
}

}  // namespace

std::optional<std::int64_t> ticks_in(std::string_view stat) {
  // The name in brackets may hold anything, brackets too.
  const auto bracket = stat.rfind(')');
  if (bracket == std::string_view::npos) return std::nullopt;
  const auto fields = split(trim(stat.substr(bracket + 1)), ' ');  // from field 3, the state
  constexpr std::size_t kUserTime = 14 - 3;
  if (fields.size() < kUserTime + 4) return std::nullopt;
  std::int64_t ticks = 0;
  for (std::size_t i = kUserTime; i < kUserTime + 4; ++i) {
    const auto value = parse_int(fields[i]);
    if (!value) return std::nullopt;
    ticks += *value;
  }
  return ticks;
}

std::optional<std::int64_t> counter_in(std::string_view text, std::string_view name) {
  for (const auto line : split(text, '\n')) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ' ')
      return parse_int(trim(line.substr(name.size())));
  }
  return std::nullopt;
}

std::vector<ContainerUsage> usage_of_pod(const CgroupRoots& roots, const std::string& pod_uid) {
  std::vector<ContainerUsage> out;
  if (roots.version == CgroupRoots::Version::None) return out;
  std::error_code error;
  for (fs::directory_iterator it(roots.memory + "/" + pod_uid, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    const std::string group = it->path().filename().string();
    const auto dash = group.rfind('-');  // NAME-ATTEMPT
    if (!it->is_directory(ignored) || dash == std::string::npos) continue;
    const std::string relative = pod_uid + "/" + group;
    out.push_back({.container = group.substr(0, dash),
                   .cpu_time = cpu_time(roots, relative),
                   .memory_bytes = working_set(roots, relative)});
  }
  std::ranges::sort(out, {}, &ContainerUsage::container);
  return out;
}

}  // namespace muster::node::linux
