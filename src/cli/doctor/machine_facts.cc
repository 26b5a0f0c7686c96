#include "cli/doctor/machine_facts.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "cli/cluster/node_options.h"
#include "node/linux/files.h"
#include "node/runtime/host.h"
#include "node/runtime/rootless/own_namespaces.h"

namespace muster::cli {
namespace {

std::optional<node::DiskSpace> space_near(std::filesystem::path place) {
  struct statvfs now{};
  while (::statvfs(place.c_str(), &now) != 0) {
    if (!place.has_relative_path()) return std::nullopt;
    place = place.parent_path();
  }
  const auto block = static_cast<std::int64_t>(now.f_frsize);
  return node::DiskSpace{.total = static_cast<std::int64_t>(now.f_blocks) * block,
                         .available = static_cast<std::int64_t>(now.f_bavail) * block,
                         .files = static_cast<std::int64_t>(now.f_files),
                         .free_files = static_cast<std::int64_t>(now.f_favail)};
}

// By groups of our own: those of a home may be in use.
void look_at_cgroups(MachineFacts& facts) {
  const auto roots = node::linux::find_cgroups(fmt::format("doctor-{}", ::getpid()));
  facts.cgroups = roots.version;
  facts.bounds_processes = !roots.pids.empty();
  if (roots.version != node::linux::CgroupRoots::Version::None)
    node::linux::remove_cgroup_roots(roots);
}

std::string kernel_release() {
  utsname names{};
  return ::uname(&names) == 0 ? names.release : "unknown";
}

bool clock_is_kept() {
  timex state{};
  return ::adjtimex(&state) >= 0 && (state.status & STA_UNSYNC) == 0;
}

}  // namespace

MachineFacts look_at_machine(const std::string& home, const std::string& path) {
  MachineFacts facts{.home = home, .kernel = kernel_release()};
  const auto status = node::linux::read_file("/proc/self/status");
  facts.missing_rights = node::missing_rights(status.value_or(""));
  if (node::needs_own_namespaces()) {
    facts.own = try_without_root(path);
  } else if (facts.missing_rights.empty()) {
    facts.trials = try_kernel(home);
  }
  look_at_cgroups(facts);
  facts.disk = space_near(home);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) facts.open_files = files.rlim_max;
  if (const auto shim = find_shim(); !shim) facts.shim_problem = shim.error().message;
  facts.now = SystemClock().now();
  facts.clock_is_kept = clock_is_kept();
  return facts;
}

}  // namespace muster::cli
