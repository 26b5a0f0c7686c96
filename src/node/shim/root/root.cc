#include "node/shim/root/root.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "node/linux/beneath.h"
#include "node/linux/files.h"
#include "node/shim/root/devices.h"
#include "node/shim/root/hidden.h"
#include "node/shim/root/layers.h"
#include "node/shim/root/mounts.h"

namespace muster::node::shim {

namespace {

// A tree taken from the host before the root changes, and where it goes afterwards.
struct Planned {
  Fd tree;
  std::string target;
  std::vector<std::string> hidden;  // places in it, below the target
  bool of_root = true;              // read-only where the root is
};

bool shows_host(const RootSpec& spec) {
  return spec.root.kind != RootFilesystem::Kind::Directory;
}

// Whether something is to be mounted below the point where the machine has nothing yet.
bool needs_room(const std::string& point, const std::vector<Mount>& mounts) {
  return std::ranges::any_of(mounts, [&](const Mount& mount) {
    std::error_code error;  // /var/run leads to /run, mostly a file system of its own
    const auto real = std::filesystem::weakly_canonical(mount.target, error).string();
    return !error && is_below(real, point) && !linux::exists(real);
  });
}

// A file system of the machine below what an image has there, with room for what is made in it;
// that stays in the container.
Result<Fd> clone_layered(const std::string& lower, const std::string& directory) {
  for (const char* name : {"/upper", "/work", "/root"})
    TRY(linux::make_directories(directory + name));
  const auto escaped = escape_option(directory);
  TRY(lay_over(lower, escaped + "/upper", escaped + "/work", directory + "/root"));
  return clone_tree(directory + "/root", Access::ReadWrite);
}

// Services listen there. A socket or a pipe is as good as its service on a mount that is read-only,
// and only a thing of that name in a layer.
bool holds_sockets(const std::string& point) {
  return is_below(point, "/run") || is_below(point, "/var/run");
}

// As a container sees it: read-only where nothing has to be laid over it.
Result<Fd> clone_host_tree(const RootSpec& spec, const std::string& point,
                           const std::string& directory) {
  const auto of_image = spec.root.directory + point;
  const bool covered =
      spec.root.kind == RootFilesystem::Kind::DirectoryOver && is_directory(of_image);
  if (covered) {
    return clone_layered(escape_option(of_image) + ":" + escape_option(point), directory);
  }
  if (holds_sockets(point)) return clone_layered(escape_option(point), directory);
  if (needs_room(point, spec.mounts)) {
    if (auto tree = clone_layered(escape_option(point), directory)) return tree;
  }
  return clone_tree(point, Access::ReadOnly);
}

// The other file systems of the machine. Those that we make anew are left out.
void take_host_trees(const RootSpec& spec, std::vector<Planned>& planned) {
  const auto mounts = linux::read_file("/proc/self/mountinfo");
  if (!mounts) return;
  for (auto& point : top_mount_points(*mounts)) {
    bool ours = false;
    for (const char* own : {"/proc", "/sys", "/dev", "/tmp"}) ours = ours || is_below(point, own);
    if (ours) continue;
    // One that we may not look into (a user's FUSE, a stale handle) is simply not there.
    if (auto tree = clone_host_tree(spec, point,
                                    spec.directory + "/layer-" + std::to_string(planned.size()))) {
      planned.push_back({.tree = std::move(*tree), .target = std::move(point)});
    }
  }
}

Result<void> take(std::vector<Planned>& planned, const std::string& source, std::string target,
                  Access access) {
  planned.push_back({.tree = TRY(clone_tree(source, access)), .target = std::move(target)});
  return {};
}

Result<void> change_root(const char* to) {
  if (::chdir(to) != 0) return fail_errno(std::string("chdir ") + to);
  // The old root lands on top of the new one, at the same place, and goes from there.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return fail_errno("pivot_root");
  if (::umount2(".", MNT_DETACH) != 0) return fail_errno("unmount the old root");
  if (::chdir("/") != 0) return fail_errno("chdir /");
  return {};
}

Result<void> put_memory(const Mount& mount) {
  const auto place = TRY(ensure_directory(mount.target));
  std::string options = "mode=1777";
  if (mount.size > 0) options += ",size=" + std::to_string(mount.size);
  const unsigned long flags = MS_NODEV | (mount.read_only ? MS_RDONLY : 0UL);
  const auto put = mount_new("tmpfs", linux::descriptor_path(place.get()), flags, options);
  return put ? put : fail(put.error().in(mount.target));
}

Result<void> put(const Planned& planned) {
  struct stat status{};
  if (::fstat(planned.tree.get(), &status) != 0) return fail_errno("stat of a mount");
  const auto place =
      TRY(S_ISDIR(status.st_mode) ? ensure_directory(planned.target) : ensure_file(planned.target));
  if (const auto put = attach(planned.tree, place); !put)
    return fail(put.error().in(planned.target));
  for (const auto& hidden : planned.hidden) TRY(hide(hidden));
  return {};
}

Result<void> leave_mounts_of_host() {
  if (::unshare(CLONE_NEWNS) != 0) return fail_errno("unshare the mount namespace");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return fail_errno("make / private");
  return {};
}

// Whether another file system of the machine would be missing in a layer over the directory. What
// is hidden there is ours, and missing anyway.
bool holds_mounts(const std::string& directory, const std::vector<std::string>& hidden) {
  const auto mounts = linux::read_file("/proc/self/mountinfo");
  if (!mounts) return true;
  return std::ranges::any_of(mount_points(*mounts), [&](const std::string& point) {
    const bool inside = point != directory && is_below(point, directory);
    return inside &&
           std::ranges::none_of(hidden, [&](const auto& place) { return is_below(point, place); });
  });
}

// Opened once, and used by that: whoever may write there cannot lead it elsewhere.
Result<Fd> open_volume(const Mount& mount) {
  auto root = linux::open_exact(mount.source, O_PATH);
  if (!root) return fail(root.error().in("mount source " + mount.source));
  if (mount.below.empty()) return root;
  auto inside = linux::open_within(root->get(), mount.below, O_PATH, linux::Walk::Beneath);
  return inside ? std::move(inside) : fail(inside.error().in("subPath in " + mount.source));
}

Result<void> take_volume(const RootSpec& spec, const Mount& mount,
                         const std::vector<std::string>& hidden, Planned& planned) {
  const auto volume = TRY(open_volume(mount));
  const auto source = TRY(linux::path_of(volume.get()));
  planned.hidden = hidden_in(source, mount.target, hidden);
  if (mount.copy_on_write && !holds_mounts(source, hidden)) {
    const auto layer = spec.directory + "/" + kShownLayer;
    if (auto tree = clone_layered(linux::descriptor_path(volume.get()), layer)) {
      planned.tree = std::move(*tree);
      return {};
    }
  }
  planned.tree = TRY(clone_tree(volume, mount.read_only ? Access::ReadOnly : Access::ReadWrite));
  return {};
}

// All that comes from the host, while it can still be seen.
struct Taken {
  std::vector<Device> devices;
  KernelViews kernel;
  std::vector<std::string> layers;  // that the root consists of, beside itself
  std::vector<Fd> cgroups;
  std::vector<Planned> views;
  Fd resolver;
  std::vector<Planned> volumes;  // those without a tree are made in memory
};

Result<void> take_views(const RootSpec& spec, Taken& taken) {
  TRY(take(taken.views, "tmp", "/tmp", Access::ReadWrite));
  for (const auto& cgroup : spec.cgroups) {
    taken.cgroups.push_back(
        TRY(clone_tree(cgroup.directory, spec.privileged ? Access::ReadWrite : Access::ReadOnly)));
  }
  if (!spec.shm_directory.empty()) {
    TRY(take(taken.views, spec.shm_directory, "/dev/shm", Access::ReadWrite));
    taken.views.back().of_root = false;
  }
  if (!spec.hosts_file.empty())
    TRY(take(taken.views, spec.hosts_file, "/etc/hosts", Access::ReadOnly));
  if (!spec.resolver_file.empty())
    taken.resolver = TRY(clone_tree(spec.resolver_file, Access::ReadOnly));
  return {};
}

Result<void> take_volumes(const RootSpec& spec, const std::vector<std::string>& hidden,
                          Taken& taken) {
  if (!spec.termination_file.empty() && !spec.termination_path.empty()) {
    TRY(take(taken.volumes, spec.termination_file, spec.termination_path, Access::ReadWrite));
    taken.volumes.back().of_root = false;
  }
  for (const auto& mount : spec.mounts) {
    if (mount.target.empty() || mount.target.front() != '/') {
      return fail(ErrorCode::Invalid, "mount path \"" + mount.target + "\" is not absolute");
    }
    Planned planned{.target = mount.target, .of_root = mount.copy_on_write};
    if (mount.kind == Mount::Kind::Bind) TRY(take_volume(spec, mount, hidden, planned));
    taken.volumes.push_back(std::move(planned));
  }
  return {};
}

Result<Taken> take_from_host(const RootSpec& spec, const std::vector<std::string>& hidden) {
  Taken taken;
  if (shows_host(spec)) take_host_trees(spec, taken.views);
  taken.devices = spec.privileged ? find_all_devices() : TRY(find_devices(spec.devices));
  TRY(take_devices(taken.devices));
  taken.kernel = TRY(make_kernel_views(spec.privileged ? Sysfs::Writable : Sysfs::ReadOnly));
  if (::chdir(spec.directory.c_str()) != 0) return fail_errno("chdir " + spec.directory);
  taken.layers = TRY(make_layers(spec.root));
  TRY(take_views(spec, taken));
  TRY(take_volumes(spec, hidden, taken));
  return taken;
}

Result<void> put_volumes(const RootSpec& spec, const Taken& taken) {
  std::size_t next = taken.volumes.size() - spec.mounts.size();
  if (next > 0) TRY(put(taken.volumes.front()));
  for (const auto& mount : spec.mounts) {
    const auto& planned = taken.volumes[next++];
    TRY(mount.kind == Mount::Kind::Tmpfs ? put_memory(mount) : put(planned));
  }
  return {};
}

// When every mount point was made.
Result<void> fix_root(const Taken& taken, const std::vector<std::string>& emptied) {
  TRY(set_read_only("/"));
  for (const auto& layer : taken.layers) TRY(set_read_only(layer));
  for (const auto* planned : {&taken.views, &taken.volumes}) {
    for (const auto& one : *planned) {
      if (one.of_root && one.tree.valid()) TRY(set_read_only(one.tree));
    }
  }
  for (const auto& place : emptied) TRY(set_read_only(place));
  return {};
}

}  // namespace

Result<void> enter_empty_root() {
  TRY(leave_mounts_of_host());
  // /proc is a directory on every machine; who is in it does not matter.
  TRY(mount_new("tmpfs", "/proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
                "size=4k,mode=555"));
  return change_root("/proc");
}

bool is_directory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<Fd> ensure_directory(const std::string& path) {
  const auto root = TRY(linux::open_root("/"));
  return linux::make_directories_within(root.get(), path, 0755, linux::Walk::InRoot);
}

Result<Fd> ensure_file(const std::string& path) {
  const auto root = TRY(linux::open_root("/"));
  return linux::make_file_within(root.get(), path, 0644, linux::Walk::InRoot);
}

Result<void> enter_root(const RootSpec& spec) {
  TRY(leave_mounts_of_host());
  const auto hidden = TRY(hidden_places(spec.hidden));
  std::error_code error;
  const auto image = std::filesystem::canonical(spec.root.directory, error).string();
  auto covered = error ? std::vector<std::string>() : hidden_in(image, "", hidden);
  if (shows_host(spec)) covered.insert(covered.end(), hidden.begin(), hidden.end());
  auto taken = TRY(take_from_host(spec, hidden));

  TRY(change_root("root"));
  TRY(put_kernel_views(taken.kernel));
  TRY(put_cgroups(spec.cgroups, taken.cgroups));
  TRY(make_dev(taken.devices));
  if (!spec.privileged && !spec.unmasked_proc) TRY(mask_kernel_files());
  for (const auto& planned : taken.views) TRY(put(planned));
  if (taken.resolver.valid()) {
    // Where /etc/resolv.conf is a link into the void there is nothing to cover.
    [[maybe_unused]] const auto put_there =
        put({.tree = std::move(taken.resolver), .target = "/etc/resolv.conf"});
  }
  // Of a home inside another home nothing can be seen any more.
  std::vector<std::string> emptied;
  for (const auto& place : covered) {
    if (!is_directory(place)) continue;
    TRY(hide(place));
    emptied.push_back(place);
  }
  if (spec.shm_directory.empty())
    TRY(mount_new("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777"));
  TRY(put_volumes(spec, taken));
  if (const auto made = ensure_directory(spec.working_directory); !made)
    return fail(made.error().in("working directory"));
  return spec.read_only ? fix_root(taken, emptied) : Result<void>{};
}

}  // namespace muster::node::shim
