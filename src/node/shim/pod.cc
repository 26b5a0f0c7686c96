#include "node/shim/pod.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "node/linux/files.h"
#include "node/linux/netlink.h"
#include "node/linux/process.h"
#include "node/linux/turn.h"
#include "node/shim/child.h"
#include "node/shim/records.h"
#include "node/shim/rights/sysctls.h"

namespace muster::node::shim {

namespace {

// The host's name servers cannot be reached from a pod. Asking nobody fails at once, so that a
// program which polls for a peer's name is not held up for seconds by each try.
Result<void> write_resolver() {
  const Fd fd(::open("resolv.conf", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  constexpr std::string_view kText =
      "# Pods and services are in /etc/hosts.\noptions timeout:1 attempts:1\n";
  if (!fd.valid() || ::write(fd.get(), kText.data(), kText.size()) < 0)
    return fail_errno("resolv.conf");
  return {};
}

// In place of one of a shim of this pod that died a moment ago: its namespace is not down yet.
Result<void> create_link(linux::Netlink& host, const std::string& link, unsigned bridge,
                         const Fd& inside, std::uint32_t address) {
  auto created = linux::create_pair(host, link, bridge, inside.get(), address);
  if (created || !linux::is_already(created.error())) return created;
  const auto removed = linux::delete_link(host, link);
  if (!removed && !linux::is_missing(removed.error())) return removed;
  return linux::create_pair(host, link, bridge, inside.get(), address);
}

}  // namespace

// The working directory is the pod's.
Result<Pod> Pod::set_up(SandboxRecord record, Fd empty) {
  Pod pod(std::move(record), std::move(empty));
  TRY(pod.cgroup_.create(pod.record_.spec.limits, linux::Cgroup::Holds::Groups));
  if (!pod.record_.shm_directory.empty()) {
    TRY(linux::make_directories(pod.record_.shm_directory));
    ::chmod(pod.record_.shm_directory.c_str(), 01777);
  }
  TRY(pod.connect());
  TRY(write_sysctls(pod.record_.spec));
  TRY(write_resolver());
  const auto& hostname = pod.record_.spec.hostname;
  if (!hostname.empty() && ::sethostname(hostname.data(), hostname.size()) != 0) {
    return fail_errno("host name \"" + hostname + "\"");
  }
  TRY(pod.start_init());
  return pod;
}

Result<void> Pod::connect() {
  const int own_namespaces =
      CLONE_NEWUTS | CLONE_NEWPID | (record_.spec.host_ipc ? 0 : CLONE_NEWIPC);
  if (record_.spec.host_network) {
    if (::unshare(own_namespaces) != 0) return fail_errno("unshare");
    return {};
  }
  auto host = TRY(linux::Netlink::open(NETLINK_ROUTE));
  const auto bridge = linux::link_index(record_.bridge);
  if (bridge == 0) return fail(ErrorCode::Io, "the bridge " + record_.bridge + " is gone");
  const auto address = TRY(linux::parse_address(record_.address));
  if (::unshare(CLONE_NEWNET | own_namespaces) != 0) return fail_errno("unshare");
  const Fd own(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!own.valid()) return fail_errno("open the network namespace");
  const auto turn = TRY(linux::await_turn(".."));  // of the home's pods, for a link
  TRY(create_link(host, record_.link, bridge, own, address));
  auto inside = TRY(linux::Netlink::open(NETLINK_ROUTE));
  return linux::join_network(inside, address, record_.prefix,
                             TRY(linux::parse_address(record_.gateway)));
}

Result<void> Pod::start_init() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  init_ = ::fork();
  if (init_ < 0) return fail_errno("fork");
  if (init_ == 0) run_init(empty_, write_end.get());
  write_end.close();
  char said[512];
  const auto size = ::read(read_end.get(), said, sizeof said);
  if (size <= 0) return fail(ErrorCode::Io, "the pod's first process died");
  if (said[0] != kReady)
    return fail(ErrorCode::Io,
                "the pod's first process: " + std::string(said, static_cast<std::size_t>(size)));
  alive_ = true;
  // The kernel lets it go only after everybody else in the pod: who finds it dead finds nobody.
  return linux::replace_file(kInitFile, encode(linux::identity_of(init_)));
}

void Pod::kill() const {
  if (alive_) ::kill(init_, SIGKILL);
}

}  // namespace muster::node::shim
