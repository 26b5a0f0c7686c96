#include "node/shim/root.h"

#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "node/linux/files.h"
#include "node/linux/homes.h"
#include "node/shim/mounts.h"

namespace muster::node::shim {

namespace {

// A tree taken from the host before the root changes, and where it goes afterwards.
struct Planned {
  Fd tree;
  std::string target;
  std::vector<std::string> hidden;  // places in it, below the target
};

struct Device {
  std::string path;
  mode_t mode = 0;
  dev_t number = 0;
};

bool is_directory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool shows_host(const RootSpec& spec) {
  return spec.root.kind != RootFilesystem::Kind::Directory;
}

Result<void> lay_over(const std::string& lower, const std::string& upper, const std::string& work,
                      const std::string& at) {
  const auto options = "lowerdir=" + lower + ",upperdir=" + upper + ",workdir=" + work;
  // volatile: what a container leaves in its upper layer goes with it, so it need not reach the
  // disk.
  if (mount_new("overlay", at, 0, options + ",volatile")) return {};
  return mount_new("overlay", at, 0, options);
}

Result<void> mount_overlay(const RootSpec& spec) {
  if (::chdir(spec.directory.c_str()) != 0) return fail_errno("chdir " + spec.directory);
  for (const char* name : {"upper", "work", "tmp", "root"}) TRY(linux::make_directories(name));
  if (::chmod("tmp", 01777) != 0) return fail_errno("chmod tmp");
  if (spec.root.kind == RootFilesystem::Kind::Host) return lay_over("/", "upper", "work", "root");
  const auto directory = escape_option(spec.root.directory);
  if (!is_directory(spec.root.directory)) {
    return fail(ErrorCode::Invalid,
                "root directory " + spec.root.directory + " is not a directory");
  }
  if (spec.root.kind == RootFilesystem::Kind::Directory)
    return lay_over(directory, "upper", "work", "root");
  // The directory may lie on the host's root itself, and the layers of one overlay must not contain
  // each other: so the host is an overlay of its own below.
  for (const char* name : {"host-upper", "host-work", "host"}) TRY(linux::make_directories(name));
  TRY(lay_over("/", "host-upper", "host-work", "host"));
  return lay_over(directory + ":host", "upper", "work", "root");
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

// As a container sees it: read-only where nothing has to be laid over it.
Result<Fd> clone_host_tree(const RootSpec& spec, const std::string& point,
                           const std::string& directory) {
  const auto of_image = spec.root.directory + point;
  const bool covered =
      spec.root.kind == RootFilesystem::Kind::DirectoryOver && is_directory(of_image);
  if (covered) {
    return clone_layered(escape_option(of_image) + ":" + escape_option(point), directory);
  }
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

// GPUs and fast networks, with the numbers and rights they have on the host.
std::vector<Device> find_devices() {
  std::vector<Device> found;
  for (const char* pattern :
       {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
        "/dev/fuse", "/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/kfd", "/dev/dri/*",
        "/dev/infiniband/*", "/dev/gdrdrv", "/dev/davinci*", "/dev/hisi_hdc", "/dev/devmm_svm"}) {
    glob_t matches{};
    if (::glob(pattern, 0, nullptr, &matches) == 0) {
      for (std::size_t i = 0; i < matches.gl_pathc; ++i) {
        struct stat status{};
        if (::stat(matches.gl_pathv[i], &status) != 0 || !S_ISCHR(status.st_mode)) continue;
        found.push_back(
            {.path = matches.gl_pathv[i], .mode = status.st_mode, .number = status.st_rdev});
      }
    }
    ::globfree(&matches);
  }
  return found;
}

Result<void> change_root(const char* to) {
  if (::chdir(to) != 0) return fail_errno(std::string("chdir ") + to);
  // The old root lands on top of the new one, at the same place, and goes from there.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return fail_errno("pivot_root");
  if (::umount2(".", MNT_DETACH) != 0) return fail_errno("unmount the old root");
  if (::chdir("/") != 0) return fail_errno("chdir /");
  return {};
}

Result<void> make_dev(const std::vector<Device>& devices) {
  TRY(ensure_directory("/dev"));
  TRY(mount_new("tmpfs", "/dev", MS_NOSUID | MS_STRICTATIME, "mode=755,size=65536k"));
  for (const auto& device : devices) {
    TRY(linux::make_directories(device.path.substr(0, device.path.rfind('/'))));
    if (::mknod(device.path.c_str(), device.mode, device.number) != 0)
      return fail_errno("mknod " + device.path);
    ::chmod(device.path.c_str(), device.mode & 07777);
  }
  constexpr std::array<std::pair<const char*, const char*>, 5> kLinks{
      {{"/proc/self/fd", "/dev/fd"},
       {"/proc/self/fd/0", "/dev/stdin"},
       {"/proc/self/fd/1", "/dev/stdout"},
       {"/proc/self/fd/2", "/dev/stderr"},
       {"pts/ptmx", "/dev/ptmx"}}};
  for (const auto& [to, from] : kLinks) {
    if (::symlink(to, from) != 0) return fail_errno(std::string("symlink ") + from);
  }
  for (const char* directory : {"/dev/pts", "/dev/shm"}) TRY(linux::make_directories(directory));
  return mount_new("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC,
                   "newinstance,ptmxmode=0666,mode=0620,gid=5");
}

Result<void> make_kernel_views(const std::vector<Device>& devices) {
  TRY(ensure_directory("/proc"));
  TRY(mount_new("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, ""));
  TRY(ensure_directory("/sys"));
  TRY(mount_new("sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, ""));
  return make_dev(devices);
}

Result<void> put_memory(const Mount& mount) {
  TRY(ensure_directory(mount.target));
  std::string options = "mode=1777";
  if (mount.size > 0) options += ",size=" + std::to_string(mount.size);
  return mount_new("tmpfs", mount.target, mount.read_only ? MS_RDONLY : 0, options);
}

Result<void> hide(const std::string& path) {
  if (!is_directory(path)) return {};  // nothing of it can be seen here
  // Whoever's working directory is in it gets a new one, so it can be written to.
  return mount_new("tmpfs", path, MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=1m,mode=755");
}

Result<void> put(const Planned& planned) {
  struct stat status{};
  if (::fstat(planned.tree.get(), &status) != 0) return fail_errno("stat of a mount");
  TRY(S_ISDIR(status.st_mode) ? ensure_directory(planned.target) : ensure_file(planned.target));
  TRY(attach(planned.tree, planned.target));
  for (const auto& place : planned.hidden) TRY(hide(place));
  return {};
}

Result<void> leave_mounts_of_host() {
  if (::unshare(CLONE_NEWNS) != 0) return fail_errno("unshare the mount namespace");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return fail_errno("make / private");
  return {};
}

// Where containers could see a home, this one's or another.
Result<std::vector<std::string>> hidden_places(const RootSpec& spec) {
  std::vector<std::string> places;
  if (spec.hidden.empty()) return places;
  const auto mounts = TRY(linux::read_file("/proc/self/mountinfo"));
  auto homes = linux::known_homes();
  homes.push_back(spec.hidden);
  for (const auto& home : homes) {
    for (auto& place : places_of(home, mounts)) places.push_back(std::move(place));
  }
  return places;
}

// What is hidden of the host, as it shows inside a volume that holds it.
std::vector<std::string> hidden_in(const Mount& volume, const std::vector<std::string>& hidden) {
  std::vector<std::string> found;
  std::error_code error;
  const auto source = std::filesystem::canonical(volume.source, error).string();
  if (error) return found;
  for (const auto& place : hidden) {
    if (!is_below(place, source)) continue;
    found.push_back(volume.target + (source == "/" ? place : place.substr(source.size())));
  }
  return found;
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

Result<Fd> clone_volume(const RootSpec& spec, const Mount& mount,
                        const std::vector<std::string>& hidden) {
  if (mount.copy_on_write && !holds_mounts(mount.source, hidden)) {
    const auto layer = spec.directory + "/" + kShownLayer;
    if (auto tree = clone_layered(escape_option(mount.source), layer)) return tree;
  }
  return clone_tree(mount.source, mount.read_only ? Access::ReadOnly : Access::ReadWrite);
}

}  // namespace

Result<void> enter_empty_root() {
  TRY(leave_mounts_of_host());
  // /proc is a directory on every machine; who is in it does not matter.
  TRY(mount_new("tmpfs", "/proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
                "size=4k,mode=555"));
  return change_root("/proc");
}

Result<void> ensure_directory(const std::string& path) {
  if (is_directory(path)) return {};
  return linux::make_directories(path);
}

Result<void> ensure_file(const std::string& path) {
  if (linux::exists(path)) return {};
  if (const auto slash = path.rfind('/'); slash != std::string::npos && slash > 0) {
    TRY(ensure_directory(path.substr(0, slash)));
  }
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid()) return fail_errno("create " + path);
  return {};
}

Result<void> enter_root(const RootSpec& spec) {
  TRY(leave_mounts_of_host());
  const auto hidden = TRY(hidden_places(spec));
  const auto hidden_in_image = hidden_in({.source = spec.root.directory, .target = ""}, hidden);
  // Sources are taken while the host can still be seen.
  std::vector<Planned> views;
  std::vector<Planned> volumes;
  if (shows_host(spec)) take_host_trees(spec, views);
  const auto devices = find_devices();
  TRY(mount_overlay(spec));
  TRY(take(views, "tmp", "/tmp", Access::ReadWrite));
  if (linux::exists("/sys/fs/cgroup"))
    TRY(take(views, "/sys/fs/cgroup", "/sys/fs/cgroup", Access::ReadOnly));
  if (!spec.shm_directory.empty())
    TRY(take(views, spec.shm_directory, "/dev/shm", Access::ReadWrite));
  if (!spec.hosts_file.empty()) TRY(take(views, spec.hosts_file, "/etc/hosts", Access::ReadOnly));
  Fd resolver;
  if (!spec.resolver_file.empty()) resolver = TRY(clone_tree(spec.resolver_file, Access::ReadOnly));
  if (!spec.termination_file.empty() && !spec.termination_path.empty()) {
    TRY(take(volumes, spec.termination_file, spec.termination_path, Access::ReadWrite));
  }
  for (const auto& mount : spec.mounts) {
    if (mount.target.empty() || mount.target.front() != '/') {
      return fail(ErrorCode::Invalid, "mount path \"" + mount.target + "\" is not absolute");
    }
    Planned planned{.target = mount.target};
    if (mount.kind == Mount::Kind::Bind) {
      planned.hidden = hidden_in(mount, hidden);
      planned.tree = TRY(clone_volume(spec, mount, hidden));
    }
    volumes.push_back(std::move(planned));
  }

  TRY(change_root("root"));
  TRY(make_kernel_views(devices));
  for (const auto& planned : views) TRY(put(planned));
  if (resolver.valid()) {
    // Where /etc/resolv.conf is a link into the void there is nothing to cover.
    [[maybe_unused]] const auto covered =
        put({.tree = std::move(resolver), .target = "/etc/resolv.conf"});
  }
  if (shows_host(spec)) {
    for (const auto& place : hidden) TRY(hide(place));
  }
  for (const auto& place : hidden_in_image) TRY(hide(place));
  if (spec.shm_directory.empty())
    TRY(mount_new("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777"));
  std::size_t next = volumes.size() - spec.mounts.size();
  if (next > 0) TRY(put(volumes.front()));
  for (const auto& mount : spec.mounts) {
    const auto& planned = volumes[next++];
    TRY(mount.kind == Mount::Kind::Tmpfs ? put_memory(mount) : put(planned));
  }
  return {};
}

}  // namespace muster::node::shim
