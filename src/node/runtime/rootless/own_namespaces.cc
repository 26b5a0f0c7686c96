#include "node/runtime/rootless/own_namespaces.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "base/fd.h"
#include "node/linux/files.h"
#include "node/linux/netlink.h"
#include "node/linux/process.h"
#include "node/linux/user_namespace.h"
#include "node/runtime/runtime.h"
#include "node/shim/protocol.h"

namespace muster::node {

namespace {

// Shims move on into their pods' networks, so the one that these are connected to is kept by name,
// among the mounts that all of them share.
std::string network_file(const std::string& home_key) {
  return state_directory(home_key) + "/network";
}

std::vector<int> living_shims(const std::string& home_key) {
  std::vector<int> found;
  struct stat status{};
  // One that somebody else made leads nowhere; create_runtime() will say so.
  if (::lstat(state_directory(home_key).c_str(), &status) != 0 || status.st_uid != ::geteuid())
    return found;
  std::error_code error;
  for (std::filesystem::directory_iterator it(state_directory(home_key), error), end;
       !error && it != end; it.increment(error)) {
    const auto bytes = linux::read_file((it->path() / "shim").string());
    if (!bytes) continue;
    const auto shim = shim::decode<linux::ProcessIdentity>(*bytes);
    if (shim && linux::is_alive(*shim)) found.push_back(shim->pid);
  }
  return found;
}

Result<void> make_namespaces() {
  if (const auto entered = linux::enter_new_namespaces(); !entered) {
    return fail(ErrorCode::Forbidden,
                "pods without root need namespaces of their own, which this machine refuses (" +
                    entered.error().message +
                    "): run as root, or let users have them (sysctl user.max_user_namespaces, "
                    "kernel.unprivileged_userns_clone, "
                    "kernel.apparmor_restrict_unprivileged_userns)");
  }
  auto netlink = TRY(linux::Netlink::open(NETLINK_ROUTE));
  return linux::set_up(netlink, "lo");
}

}  // namespace

bool needs_own_namespaces() {
  return ::geteuid() != 0 || linux::in_user_namespace();
}

Result<void> enter_own_namespaces(const std::string& home) {
  if (!needs_own_namespaces()) return {};
  const auto key = home_key(home);
  for (const int shim : living_shims(key)) {
    const auto joined = linux::join_user_and_mounts(shim);
    if (joined) return linux::join_network(network_file(key));
    if (joined.error().code != ErrorCode::NotFound)
      return fail(joined.error().in("going back to the pods of " + home));
  }
  return make_namespaces();
}

Result<void> keep_own_network(const std::string& home_key) {
  if (!linux::in_user_namespace()) return {};
  const auto file = network_file(home_key);
  const Fd made(::open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct statfs status{};
  if (!made.valid() || ::fstatfs(made.get(), &status) != 0) return fail_errno("create " + file);
  if (status.f_type == NSFS_MAGIC) return {};  // it is there since an earlier Muster
  if (::mount("/proc/self/ns/net", file.c_str(), nullptr, MS_BIND, nullptr) != 0)
    return fail_errno("keep the network of pods");
  return {};
}

void forget_own_network(const std::string& home_key) {
  if (!linux::in_user_namespace()) return;
  const auto file = network_file(home_key);
  ::umount2(file.c_str(), MNT_DETACH);
  ::unlink(file.c_str());
}

}  // namespace muster::node
