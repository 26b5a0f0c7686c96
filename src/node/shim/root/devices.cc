#include "node/shim/root/devices.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "node/linux/files.h"
#include "node/linux/user_namespace.h"
#include "node/shim/root/mounts.h"
#include "node/shim/root/root.h"

namespace muster::node::shim {

namespace {

namespace fs = std::filesystem;

constexpr std::array kOfEveryone = {"/dev/null",   "/dev/zero",    "/dev/full",
                                    "/dev/random", "/dev/urandom", "/dev/tty"};

constexpr std::int64_t kTerminals = 5;  // the group `tty`, everywhere

std::optional<Device> device_at(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode)) return std::nullopt;
  return Device{.path = path,
                .mode = status.st_mode,
                .number = status.st_rdev,
                .uid = status.st_uid,
                .gid = status.st_gid,
                .file = {}};
}

bool is_proper(const std::string& path) {
  return path.starts_with("/dev/") && fs::path(path).lexically_normal() == path;
}

bool has(const std::vector<Device>& devices, const std::string& path) {
  return std::ranges::find(devices, path, &Device::path) != devices.end();
}

std::vector<Device> find_usual_devices() {
  std::vector<Device> found;
  for (const char* path : kOfEveryone) {
    if (auto device = device_at(path)) found.push_back(std::move(*device));
  }
  return found;
}

Result<void> make_node(const Device& device) {
  if (const auto above = device.path.rfind('/'); above > std::string_view("/dev").size())
    TRY(linux::make_directories(device.path.substr(0, above)));
  if (device.file.valid()) return attach(device.file, TRY(ensure_file(device.path)));
  // With the rights that it has on the host, whatever our umask is.
  const auto umask = ::umask(0);
  const int made = ::mknod(device.path.c_str(), device.mode, device.number);
  ::umask(umask);
  if (made != 0) return fail_errno("mknod " + device.path);
  const bool of_root = device.uid == 0 && device.gid == 0;
  if (!of_root && ::chown(device.path.c_str(), device.uid, device.gid) != 0)
    return fail_errno("rights of " + device.path);
  return {};
}

Result<void> make_links() {
  constexpr std::array<std::pair<const char*, const char*>, 5> kLinks{
      {{"/proc/self/fd", "/dev/fd"},
       {"/proc/self/fd/0", "/dev/stdin"},
       {"/proc/self/fd/1", "/dev/stdout"},
       {"/proc/self/fd/2", "/dev/stderr"},
       {"pts/ptmx", "/dev/ptmx"}}};
  for (const auto& [to, from] : kLinks) {
    if (::symlink(to, from) != 0) return fail_errno(std::string("symlink ") + from);
  }
  return {};
}

}  // namespace

Result<std::vector<Device>> find_devices(const std::vector<std::string>& assigned) {
  auto found = find_usual_devices();
  for (const auto& path : assigned) {
    if (has(found, path)) continue;
    auto device = is_proper(path) ? device_at(path) : std::nullopt;
    if (!device) {
      return fail(ErrorCode::Invalid,
                  "device " + printable(path) + " is not a device file in /dev of this machine");
    }
    found.push_back(std::move(*device));
  }
  return found;
}

std::vector<Device> find_all_devices() {
  auto found = find_usual_devices();
  std::error_code error;
  fs::recursive_directory_iterator entry("/dev", fs::directory_options::skip_permission_denied,
                                         error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    const auto path = entry->path().string();
    // File systems of their own, and the multiplexer of terminals, which goes with them.
    if (path == "/dev/pts" || path == "/dev/shm" || path == "/dev/mqueue" ||
        path == "/dev/hugepages") {
      entry.disable_recursion_pending();
    }
    std::error_code unseen;
    if (path == "/dev/ptmx" || fs::is_symlink(entry->symlink_status(unseen)) || has(found, path))
      continue;
    if (auto device = device_at(path)) found.push_back(std::move(*device));
  }
  return found;
}

Result<void> take_devices(std::vector<Device>& devices) {
  if (!linux::in_user_namespace()) return {};
  for (auto& device : devices) device.file = TRY(clone_device(device.path));
  return {};
}

Result<void> make_dev(const std::vector<Device>& devices) {
  TRY(ensure_directory("/dev"));
  TRY(mount_new("tmpfs", "/dev", MS_NOSUID | MS_STRICTATIME, "mode=755,size=65536k"));
  for (const auto& device : devices) TRY(make_node(device));
  TRY(make_links());
  for (const char* directory : {"/dev/pts", "/dev/shm"}) TRY(linux::make_directories(directory));
  std::string options = "newinstance,ptmxmode=0666,mode=0620";
  if (linux::contains(linux::own_groups(), kTerminals))
    options += fmt::format(",gid={}", kTerminals);
  return mount_new("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, options);
}

}  // namespace muster::node::shim
