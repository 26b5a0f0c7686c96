#include "node/linux/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <functional>

#include "base/fd.h"

namespace muster::node::linux {

namespace {

Result<void> write_whole(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("write " + path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return fail_errno("open " + path);
  std::string out;
  char chunk[16384];
  while (out.size() < limit) {
    const auto got = ::read(fd.get(), chunk, std::min(sizeof chunk, limit - out.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read " + path);
    if (got == 0) break;
    out.append(chunk, static_cast<std::size_t>(got));
  }
  return out;
}

Result<void> write_existing(const std::string& path, std::string_view text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return fail_errno("open " + path);
  return write_whole(fd.get(), text, path);
}

namespace {

// `and_then` has the file before it gets its name.
Result<void> replace(const std::string& path, std::string_view bytes,
                     const std::function<Result<void>(const Fd&, const std::string&)>& and_then) {
  const std::string temporary = path + ".new";
  const Fd fd(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return fail_errno("open " + temporary);
  TRY(write_whole(fd.get(), bytes, temporary));
  TRY(and_then(fd, temporary));
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail_errno("rename " + temporary);
  return {};
}

}  // namespace

Result<void> replace_file(const std::string& path, std::string_view bytes) {
  return replace(path, bytes, [](const Fd&, const std::string&) { return Result<void>{}; });
}

Result<void> write_durably(const std::string& path, std::string_view bytes) {
  TRY(replace(path, bytes, [](const Fd& fd, const std::string& name) -> Result<void> {
    if (::fdatasync(fd.get()) != 0) return fail_errno("sync " + name);
    return {};
  }));
  return sync_directory(path.substr(0, path.rfind('/')));
}

Result<void> sync_directory(const std::string& path) {
  const Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid() || ::fsync(directory.get()) != 0)
    return fail_errno("sync the directory " + path);
  return {};
}

Result<void> make_private(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST) return fail_errno("mkdir " + path);
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return fail_errno("stat " + path);
  if (S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() && (found.st_mode & 077U) == 0)
    return {};
  return fail(ErrorCode::Forbidden, path + " is not a directory that only this user can enter");
}

Result<void> make_directories(const std::string& path, unsigned mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT) return fail_errno("mkdir " + path);
  const auto slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return fail_errno("mkdir " + path, ENOENT);
  TRY(make_directories(path.substr(0, slash), mode));
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return fail_errno("mkdir " + path);
}

Result<void> remove_tree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return fail_errno("remove " + path, error.value());
  return {};
}

void move_elsewhere(const std::string& directory) {
  const Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int flags = 0;
  if (!opened.valid() || ::ioctl(opened.get(), FS_IOC_GETFLAGS, &flags) != 0) return;
  // Entries of such a directory are unrelated: each gets a place of its own, which follows from its
  // name, and what is made afterwards goes where the last one is.
  int spread = flags | FS_TOPDIR_FL;
  int together = flags & ~FS_TOPDIR_FL;
  const auto first = ".first-" + std::to_string(now().time_since_epoch().count());
  if (::ioctl(opened.get(), FS_IOC_SETFLAGS, &spread) != 0) return;
  ::mkdirat(opened.get(), first.c_str(), 0700);
  ::ioctl(opened.get(), FS_IOC_SETFLAGS, &together);
  ::unlinkat(opened.get(), first.c_str(), AT_REMOVEDIR);
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

Time now() {
  timespec at{};
  static_cast<void>(::clock_gettime(CLOCK_REALTIME, &at));
  return Time(std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec));
}

Time changed_at(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return {};
  return Time(std::chrono::seconds(found.st_mtim.tv_sec) +
              std::chrono::nanoseconds(found.st_mtim.tv_nsec));
}

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.size() > 253 || name == "." || name == "..") return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

}  // namespace muster::node::linux
