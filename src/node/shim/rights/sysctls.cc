#include "node/shim/rights/sysctls.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "node/linux/files.h"

namespace muster::node::shim {

namespace {

constexpr std::array<std::string_view, 6> kOfIpc = {
    "kernel/shm_rmid_forced", "kernel/shmall", "kernel/shmmax",
    "kernel/shmmni",          "kernel/sem",    "kernel/auto_msgmni"};

bool is_of_ipc(std::string_view path) {
  return std::ranges::find(kOfIpc, path) != kOfIpc.end() || path.starts_with("kernel/msg") ||
         path.starts_with("fs/mqueue/");
}

// net.ipv4.tcp_syncookies, or net/ipv4/conf/eth0.100/forwarding: the first separator counts.
std::string with_slashes(std::string_view name) {
  std::string path(name);
  const auto first = path.find_first_of("./");
  if (first == std::string::npos || path[first] == '/') return path;
  std::ranges::transform(path, path.begin(), [](char c) {
    return c == '.' ? '/' : c == '/' ? '.' : c;
  });
  return path;
}

bool leads_elsewhere(const std::string& path) {
  return std::ranges::any_of(split(path, '/'), [](std::string_view part) {
    return part.empty() || part == "." || part == "..";
  });
}

}  // namespace

Result<std::string> sysctl_file(std::string_view name, const SandboxSpec& pod) {
  const auto path = with_slashes(name);
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::Invalid, "sysctl " + printable(name) + ": " + why);
  };
  const bool net = path.starts_with("net/");
  if (leads_elsewhere(path) || (!net && !is_of_ipc(path)))
    return refuse("only those of the pod's own network and IPC namespaces can be set");
  if (net && pod.host_network) return refuse("hostNetwork: it is the machine's");
  if (!net && pod.host_ipc) return refuse("hostIPC: it is the machine's");
  return "/proc/sys/" + path;
}

Result<void> write_sysctls(const SandboxSpec& pod) {
  for (const auto& [name, value] : pod.sysctls) {
    const auto file = TRY(sysctl_file(name, pod));
    if (const auto written = linux::write_existing(file, value); !written) {
      return fail(ErrorCode::Invalid, "sysctl " + printable(name) + " = " + printable(value) +
                                          ": " + written.error().message);
    }
  }
  return {};
}

}  // namespace muster::node::shim
