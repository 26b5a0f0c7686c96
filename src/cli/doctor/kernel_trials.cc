#include "cli/doctor/kernel_trials.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/fd.h"
#include "node/linux/netlink.h"
#include "node/shim/root/mounts.h"
#include "node/shim/services.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
namespace linux = node::linux;

Result<void> enter_namespaces() {
  if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) return fail_errno("unshare");
  // Or what we mount would show outside.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return fail_errno("make mounts private");
  return {};
}

Result<void> make_links() {
  auto netlink = TRY(linux::Netlink::open(NETLINK_ROUTE));
  TRY(linux::create_bridge(netlink, "bridge0"));
  const Fd here(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!here.valid()) return fail_errno("open /proc/thread-self/ns/net");
  return linux::create_pair(netlink, "pair0", linux::link_index("bridge0"), here.get(), 0x0a000002);
}

// Every sort of rule that pods have: two endpoints that take turns, and a range that refuses.
Result<void> write_services() {
  node::shim::ServiceTable table;
  return table.replace(
      {{.cluster_ip = "10.96.0.1",
        .port = 80,
        .endpoints = {{.address = "10.0.0.2", .port = 80}, {.address = "10.0.0.3", .port = 80}}}},
      "10.96.0.0/16");
}

Result<void> lay_over_root(const fs::path& layers) {
  for (const char* name : {"upper", "work"}) {
    std::error_code error;
    fs::create_directories(layers / name, error);
    if (error) return fail_errno("mkdir " + (layers / name).string(), error.value());
  }
  const auto tree = node::shim::new_overlay(
      {.lower = {"/"}, .upper = layers / "upper", .work = layers / "work"}, {});
  return tree ? Result<void>{} : fail(tree.error());
}

Result<std::string> make_directory_near(fs::path place) {
  std::error_code error;
  while (!fs::is_directory(place, error) && place.has_relative_path()) place = place.parent_path();
  std::string path = (place / ".muster-doctor.XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) return fail_errno("make a directory in " + place.string());
  return path;
}

std::string failure_of(const Result<void>& result) {
  return result ? "" : result.error().message;
}

// On a thread of its own, with whose end everything goes that it made.
void try_inside(const std::string& layers, KernelTrials& trials) {
  trials.namespaces = failure_of(enter_namespaces());
  if (!trials.namespaces.empty()) return;
  trials.links = failure_of(make_links());
  trials.services = failure_of(write_services());
  if (!layers.empty()) trials.overlay = failure_of(lay_over_root(layers));
}

}  // namespace

KernelTrials try_kernel(const std::string& home) {
  KernelTrials trials;
  const auto layers = make_directory_near(home);
  if (!layers) trials.overlay = layers.error().message;
  std::thread([&] { try_inside(layers.value_or(""), trials); }).join();
  std::error_code ignored;
  if (layers) fs::remove_all(*layers, ignored);
  return trials;
}

}  // namespace muster::cli
