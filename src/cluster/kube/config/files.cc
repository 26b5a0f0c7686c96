#include "cluster/kube/config/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/fd.h"

namespace muster::cluster::kube {

Result<std::string> HostFiles::read(const std::string& path) const {
  // O_NONBLOCK: a FIFO in place of a file must not hang us; it is refused below.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return fail(ErrorCode::NotFound, fmt::format("{}: no such file", path));
    }
    return fail_errno(path);
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail_errno(path);
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::Io, fmt::format("{}: not a regular file", path));
  std::string text;
  std::string chunk(std::size_t{16} << 10U, '\0');
  while (true) {
    const ssize_t count = ::read(fd.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(path);
    if (count == 0) return text;
    text.append(chunk, 0, static_cast<std::size_t>(count));
    if (text.size() > kMaxConfigFileBytes) {
      return fail(ErrorCode::TooLarge,
                  fmt::format("{}: more than {} bytes", path, kMaxConfigFileBytes));
    }
  }
}

}  // namespace muster::cluster::kube
