#include "server/store/home_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::server {
namespace {

std::string read_owner(int file) {
  std::array<char, 32> text{};
  const ssize_t count = ::pread(file, text.data(), text.size(), 0);
  if (count <= 0) return "unknown";
  return std::string(trim(std::string_view(text.data(), static_cast<std::size_t>(count))));
}

Result<void> write_owner(int file) {
  const std::string pid = fmt::format("{}\n", ::getpid());
  // Written over what is there, which takes no new block: the disk may be full.
  const auto size = static_cast<off_t>(pid.size());
  if (::pwrite(file, pid.data(), pid.size(), 0) != size || ::ftruncate(file, size) != 0) {
    return fail_errno("write its owner");
  }
  return {};
}

}  // namespace

Result<HomeLock> HomeLock::take(const std::string& home) {
  const std::string path = home + "/lock";
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return fail_errno("open " + path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail_errno("lock " + path);
    return fail(ErrorCode::AlreadyExists,
                fmt::format("{} is in use by process {}; stop it, or choose another --home", home,
                            read_owner(file.get())));
  }
  if (const auto written = write_owner(file.get()); !written) return fail(written.error().in(path));
  return HomeLock(std::move(file));
}

Result<HomeLock> HomeLock::adopt(const std::string& home, int descriptor) {
  const std::string path = home + "/lock";
  struct stat handed{};
  struct stat there{};
  if (::fstat(descriptor, &handed) != 0 || ::stat(path.c_str(), &there) != 0 ||
      handed.st_dev != there.st_dev || handed.st_ino != there.st_ino)
    return fail(ErrorCode::BadRequest, fmt::format("descriptor {} is not {}", descriptor, path));
  if (::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) return fail_errno("close it on exec");
  Fd file(descriptor);
  if (const auto written = write_owner(file.get()); !written) return fail(written.error().in(path));
  return HomeLock(std::move(file));
}

Result<HomeLock> HomeLock::share() const {
  Fd again(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  if (!again.valid()) return fail_errno("share the lock of the home");
  return HomeLock(std::move(again));
}

}  // namespace muster::server
