#include "node/shim/root/kernel_views.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "node/linux/files.h"
#include "node/shim/root/mounts.h"
#include "node/shim/root/root.h"

namespace muster::node::shim {

namespace {

constexpr const char* kCgroups = "/sys/fs/cgroup";
constexpr unsigned long kInert = MS_NOSUID | MS_NODEV | MS_NOEXEC;

constexpr std::array kMasked = {"/proc/acpi",
                                "/proc/asound",
                                "/proc/interrupts",
                                "/proc/kcore",
                                "/proc/keys",
                                "/proc/latency_stats",
                                "/proc/sched_debug",
                                "/proc/scsi",
                                "/proc/timer_list",
                                "/proc/timer_stats",
                                "/sys/devices/virtual/powercap",
                                "/sys/firmware"};
constexpr std::array kReadOnly = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                  "/proc/sysrq-trigger"};

Result<void> mask(const char* path) {
  struct stat status{};
  if (::stat(path, &status) != 0) return {};  // not every kernel has it
  if (S_ISDIR(status.st_mode)) {
    return mount_new("tmpfs", path, kInert | MS_RDONLY, "size=4k,mode=555");
  }
  if (::mount("/dev/null", path, nullptr, MS_BIND, nullptr) != 0)
    return fail_errno(std::string("mask ") + path);
  return {};
}

}  // namespace

Result<KernelViews> make_kernel_views(Sysfs sysfs) {
  return KernelViews{.proc = TRY(new_tree("proc", Access::ReadWrite)),
                     .sys = TRY(new_tree("sysfs", sysfs == Sysfs::ReadOnly ? Access::ReadOnly
                                                                           : Access::ReadWrite))};
}

Result<void> put_kernel_views(const KernelViews& views) {
  TRY(attach(views.proc, TRY(ensure_directory("/proc"))));
  return attach(views.sys, TRY(ensure_directory("/sys")));
}

Result<void> mask_kernel_files() {
  for (const char* path : kMasked) TRY(mask(path));
  for (const char* path : kReadOnly) {
    if (!linux::exists(path)) continue;
    TRY(attach(TRY(clone_tree(path, Access::ReadOnly)), path));
  }
  return {};
}

Result<void> put_cgroups(const std::vector<ShownCgroup>& cgroups, const std::vector<Fd>& trees) {
  if (cgroups.empty() || !linux::exists(kCgroups)) return {};
  const bool alone = cgroups.front().target == kCgroups;
  if (!alone) TRY(mount_new("tmpfs", kCgroups, kInert, "size=64k,mode=755"));
  for (std::size_t i = 0; i < cgroups.size(); ++i) {
    if (!alone) TRY(linux::make_directories(cgroups[i].target));
    TRY(attach(trees[i], cgroups[i].target));
  }
  return alone ? Result<void>{} : set_read_only(kCgroups);
}

}  // namespace muster::node::shim
