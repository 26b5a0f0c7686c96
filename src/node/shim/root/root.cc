#include "node/shim/root/root.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

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

// Without the links that lead to it: /var/run leads to /run, mostly a file system of its own.
std::string real_path(const std::string& path) {
  std::error_code error;
  auto real = std::filesystem::weakly_canonical(path, error).string();
  return error ? path : real;
}

bool shows_host(const RootSpec& spec) {
  return spec.root.kind != RootFilesystem::Kind::Directory;
}

// Whether something is to be mounted below the point where the machine has nothing yet.
bool needs_room(const std::string& point, const Machine& machine) {
  return std::ranges::any_of(machine.targets, [&](const std::string& target) {
    return is_below(target, point) && !linux::exists(target);
  });
}

// A file system of the machine below what an image has there, with room for what is made in it;
// that stays in the container.
Result<Fd> make_layered(std::vector<std::string> lower, const std::string& directory) {
  const Overlay overlay{
      .lower = std::move(lower), .upper = directory + "/upper", .work = directory + "/work"};
  for (const auto& path : {overlay.upper, overlay.work}) TRY(linux::make_directories(path));
  return lay_over(overlay);
}

// Services listen there. A socket or a pipe is as good as its service on a mount that is read-only,
// and only a thing of that name in a layer.
bool holds_sockets(const std::string& point) {
  return is_below(point, "/run") || is_below(point, "/var/run");
}

// As a container sees it: read-only where nothing has to be laid over it.
Result<Fd> clone_host_tree(const RootSpec& spec, const Machine& machine, const std::string& point,
                           const std::string& directory) {
  const auto of_image = spec.root.directory + point;
  const bool covered =
      spec.root.kind == RootFilesystem::Kind::DirectoryOver && is_directory(of_image);
  if (covered) {
    return make_layered({of_image, point}, directory);
  }
  if (holds_sockets(point)) return make_layered({point}, directory);
  if (needs_room(point, machine)) {
    if (auto tree = make_layered({point}, directory)) return tree;
  }
  return clone_tree(point, Access::ReadOnly);
}

// The other file systems of the machine. Those that we make anew are left out.
void take_host_trees(const RootSpec& spec, const Machine& machine, std::vector<Planned>& planned) {
  for (auto& point : top_mount_points(machine.mounts)) {
    if (is_made_anew(point)) continue;
    // One that we may not look into (a user's FUSE, a stale handle) is simply not there.
    if (auto tree = clone_host_tree(spec, machine, point,
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

// Whether another file system of the machine would be missing in a layer over the directory. What
// is hidden there is ours, and missing anyway.
bool holds_mounts(const std::string& directory, const Machine& machine) {
  return std::ranges::any_of(mount_points(machine.mounts), [&](const std::string& point) {
    const bool inside = point != directory && is_below(point, directory);
    return inside && std::ranges::none_of(
                         machine.hidden, [&](const auto& place) { return is_below(point, place); });
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

Result<void> take_volume(const RootSpec& spec, const Mount& mount, const Machine& machine,
                         Planned& planned) {
  const auto volume = TRY(open_volume(mount));
  const auto source = TRY(linux::path_of(volume.get()));
  planned.hidden = hidden_in(source, mount.target, machine.hidden);
  if (mount.copy_on_write && !holds_mounts(source, machine)) {
    const auto layer = spec.directory + "/" + kShownLayer;
    if (auto tree = make_layered({linux::descriptor_path(volume.get())}, layer)) {
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
  Layers root;
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

Result<void> take_volumes(const RootSpec& spec, const Machine& machine, Taken& taken) {
  if (!spec.termination_file.empty() && !spec.termination_path.empty()) {
    TRY(take(taken.volumes, spec.termination_file, spec.termination_path, Access::ReadWrite));
    taken.volumes.back().of_root = false;
  }
  for (const auto& mount : spec.mounts) {
    if (mount.target.empty() || mount.target.front() != '/') {
      return fail(ErrorCode::Invalid, "mount path \"" + mount.target + "\" is not absolute");
    }
    Planned planned{.target = mount.target, .of_root = mount.copy_on_write};
    if (mount.kind == Mount::Kind::Bind) TRY(take_volume(spec, mount, machine, planned));
    taken.volumes.push_back(std::move(planned));
  }
  return {};
}

// What will be mounted where the machine may have nothing.
std::vector<Place> places_for(const RootSpec& spec, const Machine& machine, const Taken& taken) {
  std::vector<Place> places{{.path = real_path(spec.working_directory)}};
  const auto before = taken.volumes.size() - machine.targets.size();  // not of the mounts
  for (std::size_t i = 0; i < taken.volumes.size(); ++i) {
    const auto& volume = taken.volumes[i];
    struct stat status{};
    const bool directory =
        !volume.tree.valid() || ::fstat(volume.tree.get(), &status) != 0 || S_ISDIR(status.st_mode);
    places.push_back({.path = i < before ? real_path(volume.target) : machine.targets[i - before],
                      .directory = directory});
  }
  return places;
}

Result<Taken> take_from_host(const RootSpec& spec, const Machine& machine) {
  Taken taken;
  if (shows_host(spec)) take_host_trees(spec, machine, taken.views);
  taken.devices = spec.privileged ? find_all_devices() : TRY(find_devices(spec.devices));
  TRY(take_devices(taken.devices));
  taken.kernel = TRY(make_kernel_views(spec.privileged ? Sysfs::Writable : Sysfs::ReadOnly));
  if (::chdir(spec.directory.c_str()) != 0) return fail_errno("chdir " + spec.directory);
  TRY(take_volumes(spec, machine, taken));
  taken.root = TRY(make_layers(spec.root, places_for(spec, machine, taken), spec.places_directory));
  TRY(take_views(spec, taken));
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
  for (const auto& view : taken.root.views) TRY(set_read_only(view));
  for (const auto* planned : {&taken.views, &taken.volumes}) {
    for (const auto& one : *planned) {
      if (one.of_root && one.tree.valid()) TRY(set_read_only(one.tree));
    }
  }
  for (const auto& place : emptied) TRY(set_read_only(place));
  return {};
}

// A mount namespace of its own in which the tree is all there is.
Result<void> enter_tree(const Fd& tree, const Fd& empty) {
  TRY(enter_empty_root(empty));
  TRY(attach(tree, "/"));
  // It covers the empty directory, and with that it is what everybody finds as `/` who comes into
  // the namespace. Unlike pivot_root this does not look at every process of the machine.
  if (::fchdir(tree.get()) != 0 || ::chroot(".") != 0) return fail_errno("change the root");
  return {};
}

// Of the calling process, which does nothing else.
Result<void> leave_everything() {
  TRY(leave_mounts_of_host());
  // /proc is a directory on every machine; who is in it does not matter.
  TRY(mount_new("tmpfs", "/proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
                "size=4k,mode=555"));
  if (::chdir("/proc") != 0) return fail_errno("chdir /proc");
  // The old root lands on top of the new one, at the same place, and goes from there.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return fail_errno("pivot_root");
  if (::umount2(".", MNT_DETACH) != 0) return fail_errno("unmount the old root");
  return {};
}

}  // namespace

Result<void> leave_mounts_of_host() {
  if (::unshare(CLONE_NEWNS) != 0) return fail_errno("unshare the mount namespace");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return fail_errno("make / private");
  return {};
}

Result<Fd> make_empty_namespace() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair");
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const int pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0) {
    ours.close();
    const auto left = leave_everything();
    const auto said = left ? std::string(1, '\0') : left.error().message;
    char byte = 0;
    const bool told = ::write(theirs.get(), said.data(), said.size()) > 0;
    // Until it was opened by somebody else, the namespace goes with us.
    ::_exit(told && ::read(theirs.get(), &byte, 1) == 0 ? 0 : 1);
  }
  theirs.close();
  char said[512];
  const auto size = ::read(ours.get(), said, sizeof said);
  Fd opened(::open(fmt::format("/proc/{}/ns/mnt", pid).c_str(), O_RDONLY | O_CLOEXEC));
  const int error = errno;
  ours.close();
  ::waitpid(pid, nullptr, 0);
  if (size <= 0) return fail(ErrorCode::Io, "an empty mount namespace: its maker died");
  if (said[0] != '\0')
    return fail(ErrorCode::Io,
                "an empty mount namespace: " + std::string(said, static_cast<std::size_t>(size)));
  if (!opened.valid()) return fail_errno("open an empty mount namespace", error);
  return opened;
}

Result<void> enter_empty_root(const Fd& empty) {
  if (::setns(empty.get(), CLONE_NEWNS) != 0) return fail_errno("enter the empty mount namespace");
  if (::unshare(CLONE_NEWNS) != 0) return fail_errno("unshare the mount namespace");
  return {};
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

Result<Machine> look_at_machine(const RootSpec& spec) {
  Machine machine{.mounts = TRY(linux::read_file("/proc/self/mountinfo"))};
  machine.hidden = hidden_places(spec.hidden, machine.mounts);
  for (const auto& mount : spec.mounts) machine.targets.push_back(real_path(mount.target));
  return machine;
}

Result<void> enter_root(const RootSpec& spec, const Machine& machine, const Fd& empty) {
  const auto& hidden = machine.hidden;
  std::error_code error;
  const auto image = std::filesystem::canonical(spec.root.directory, error).string();
  auto covered = error ? std::vector<std::string>() : hidden_in(image, "", hidden);
  if (shows_host(spec)) covered.insert(covered.end(), hidden.begin(), hidden.end());
  auto taken = TRY(take_from_host(spec, machine));

  TRY(enter_tree(taken.root.tree, empty));
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
