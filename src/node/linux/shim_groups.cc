#include "node/linux/shim_groups.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/strings.h"
#include "node/linux/files.h"

namespace muster::node::linux {
namespace {

constexpr std::array<std::string_view, 5> kLeft = {"memory", "cpu", "cpuacct", "pids", "freezer"};

bool is_left(std::string_view controller) {
  return controller.starts_with("name=") || std::ranges::find(kLeft, controller) != kLeft.end();
}

// Fields of /proc/self/mounts are device, path, type, options. Empty: not mounted.
std::string mount_of(std::string_view mounts, std::string_view type, std::string_view option) {
  for (const auto line : split(mounts, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() < 4 || fields[2] != type) continue;
    const auto options = split(fields[3], ',');
    if (option.empty() || std::ranges::find(options, option) != options.end())
      return std::string(fields[1]);
  }
  return {};
}

std::string shim_group(const std::string& mount, const std::string& home_key) {
  return mount + "/muster/" + home_key + "-shims";
}

// A process that ended is in its group for a moment longer than anybody sees it.
void remove_empty(const std::string& group) {
  constexpr int kMostMilliseconds = 50;
  for (int waited = 0; waited < kMostMilliseconds; ++waited) {
    if (::rmdir(group.c_str()) == 0 || errno != EBUSY) return;
    ::usleep(1000);
  }
}

}  // namespace

std::vector<GroupPlace> groups_to_leave(std::string_view groups, std::string_view mounts) {
  std::vector<GroupPlace> found;
  for (const auto line : split(groups, '\n')) {
    // number:controllers:path, and 0::path for version 2
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    GroupPlace place{.path = std::string(line.substr(second + 1))};
    if (place.path == "/") continue;
    if (controllers.empty()) {
      place.version = GroupPlace::Version::V2;
      place.mount = mount_of(mounts, "cgroup2", "");
    } else {
      const auto names = split(controllers, ',');
      if (std::ranges::none_of(names, is_left)) continue;
      place.mount = mount_of(mounts, "cgroup", names.front());
    }
    if (!place.mount.empty()) found.push_back(std::move(place));
  }
  return found;
}

void leave_service_groups(const std::string& home_key) {
  const auto groups = read_file("/proc/self/cgroup");
  const auto mounts = read_file("/proc/self/mounts");
  if (!groups || !mounts) return;
  for (const auto& place : groups_to_leave(*groups, *mounts)) {
    const std::string group = shim_group(place.mount, home_key);
    if (place.mount + place.path == group || !make_directories(group)) continue;
    // v1: `tasks` moves a thread without the lock that cgroup.procs waits for (see Cgroup::enter).
    const bool v1 = place.version == GroupPlace::Version::V1;
    [[maybe_unused]] const auto moved =
        write_existing(group + (v1 ? "/tasks" : "/cgroup.procs"), "0");
  }
}

void remove_shim_groups(const std::string& home_key) {
  const auto mounts = read_file("/proc/self/mounts");
  if (!mounts) return;
  for (const auto line : split(*mounts, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() < 4 || !fields[2].starts_with("cgroup")) continue;
    const std::string mount(fields[1]);
    remove_empty(shim_group(mount, home_key));
    ::rmdir((mount + "/muster").c_str());
  }
}

}  // namespace muster::node::linux
