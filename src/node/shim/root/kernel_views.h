#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

// /proc and /sys of a container.
namespace muster::node::shim {

// A cgroup of the host and where a container sees it.
struct ShownCgroup {
  std::string directory;
  std::string target;
};

// Fresh ones of the calling process's namespaces, mounted nowhere yet. Without root the kernel
// makes them only for who can see the machine's: before the root changes.
struct KernelViews {
  Fd proc;
  Fd sys;
};
enum class Sysfs { ReadOnly, Writable };
Result<KernelViews> make_kernel_views(Sysfs sysfs);
// Into the calling process's root.
Result<void> put_kernel_views(const KernelViews& views);

// Covers what says or does something to the whole machine, as container runtimes do. /dev must be
// there.
Result<void> mask_kernel_files();

// Trees that were taken from the host, in the order of `cgroups`: at /sys/fs/cgroup itself, or in
// it.
Result<void> put_cgroups(const std::vector<ShownCgroup>& cgroups, const std::vector<Fd>& trees);

}  // namespace muster::node::shim
