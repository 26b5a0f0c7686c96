#include "node/runtime/host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>

#include <fmt/format.h>

#include "base/strings.h"
#include "node/linux/cgroup.h"
#include "node/linux/files.h"
#include "node/linux/homes.h"
#include "node/runtime/linux_runtime.h"
#include "node/runtime/rootless/own_namespaces.h"

namespace muster::node {

std::vector<std::string> missing_rights(std::string_view status) {
  constexpr std::string_view kField = "CapEff:\t";
  const auto at = status.find(kField);
  std::uint64_t effective = 0;
  if (at != std::string_view::npos) {
    const auto text = status.substr(at + kField.size(), 16);
    std::from_chars(text.data(), text.data() + text.size(), effective, 16);
  }
  struct Right {
    int bit;
    const char* name;
    const char* purpose;
  };
  constexpr Right kRights[] = {{12, "CAP_NET_ADMIN", "pod addresses and service rules"},
                               {21, "CAP_SYS_ADMIN", "namespaces, mounts and cgroups"},
                               {18, "CAP_SYS_CHROOT", "container roots"},
                               {27, "CAP_MKNOD", "devices of containers"},
                               {5, "CAP_KILL", "ending pods"}};
  std::vector<std::string> missing;
  for (const auto& right : kRights) {
    if (((effective >> right.bit) & 1U) == 0)
      missing.push_back(fmt::format("{} ({})", right.name, right.purpose));
  }
  return missing;
}

Result<void> check_rights(std::string_view status) {
  const auto missing = missing_rights(status);
  if (missing.empty()) return {};
  return fail(ErrorCode::Forbidden,
              "pods need rights that this process lacks: " + join(missing, ", ") + "; run as root");
}

std::string host_address() {
  std::string found = "127.0.0.1";
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  for (const auto* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    if ((entry->ifa_flags & IFF_LOOPBACK) != 0 ||
        std::string_view(entry->ifa_name).starts_with("muster"))
      continue;
    char text[INET_ADDRSTRLEN];
    const auto* address = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text) != nullptr) found = text;
    break;
  }
  ::freeifaddrs(list);
  return found;
}

std::uint64_t log_quota(std::uint64_t wanted, std::uint64_t disk) {
  return std::min(wanted, disk / 16);
}

std::string home_key(const std::string& home) {
  return fmt::format("{:08x}", stable_hash(home) & 0xffffffffU);
}

std::string state_directory(const std::string& home_key) {
  return "/dev/shm/muster-pods-" + home_key;
}

Result<std::unique_ptr<Runtime>> create_runtime(rt::RealLoop& loop, rt::Pool& pool,
                                                RuntimeOptions options) {
  TRY(check_rights(TRY(linux::read_file("/proc/self/status"))));
  if (::access(options.shim_path.c_str(), X_OK) != 0)
    return fail_errno("muster-shim at \"" + options.shim_path + "\"");
  if (options.home.empty() || options.home.front() != '/') {
    return fail(ErrorCode::Invalid, "home \"" + options.home + "\" is not an absolute path");
  }
  TRY(linux::make_directories(options.home, 0700));
  for (const char* name : {"/pods", "/logs", "/runtime"})
    TRY(linux::make_directories(options.home + name, 0700));
  Fd lock(::open((options.home + "/runtime/lock").c_str(),
                 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return fail_errno("open " + options.home + "/runtime/lock");
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::Conflict, "another Muster runs pods in " + options.home);
  }
  std::error_code unknown;
  const auto disk = std::filesystem::space(options.home, unknown);
  if (!unknown) options.log_quota_bytes = log_quota(options.log_quota_bytes, disk.capacity);
  const auto key = home_key(options.home);
  TRY(linux::make_private(state_directory(key)));
  TRY(keep_own_network(key));
  std::error_code no_error;  // what cannot be resolved stays as it is
  TRY(linux::remember_home(key,
                           std::filesystem::weakly_canonical(options.home, no_error).string()));
  auto network = TRY(Network::set_up({.home_key = key,
                                      .state_file = options.home + "/runtime/network",
                                      .pod_range = options.pod_range,
                                      .block_prefix = options.pod_block,
                                      .service_range = options.service_range}));
  auto cgroups = linux::find_cgroups(key);
  if (cgroups.version == linux::CgroupRoots::Version::None) {
    options.logger.warning("no writable cgroups: limits of cpu and memory have no effect");
  }
  return std::make_unique<LinuxRuntime>(loop, pool, std::move(options), std::move(network),
                                        std::move(cgroups), std::move(lock), key);
}

}  // namespace muster::node
