#include "node/linux/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "base/strings.h"

namespace muster::node::linux {

namespace {

constexpr unsigned kDirectoryBits = 0755;
// The kernel gives up on ".." when somebody renames at the same time; a loop that does nothing else
// must not keep us for ever.
constexpr int kMostTries = 64;

std::uint64_t resolve_flags(Walk walk) {
  switch (walk) {
    case Walk::Beneath:
      return RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    case Walk::NoLinks:
      return RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    case Walk::InRoot:
      return RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  }
  return RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
}

Fd try_open(int root, const std::string& path, int flags, Walk walk) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.resolve = resolve_flags(walk);
  for (int tries = 0;; ++tries) {
    Fd fd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
    const bool again = !fd.valid() && (errno == EAGAIN || errno == EINTR);
    if (!again || tries >= kMostTries) return fd;
  }
}

std::unexpected<Error> refused(const std::string& path) {
  const int error = errno;
  if (error == EXDEV || error == ELOOP) {
    auto failed = fail(ErrorCode::Invalid, "\"" + printable(path) + "\" leaves its directory");
    errno = error;
    return failed;
  }
  auto failed = fail_errno("open " + printable(path), error);
  errno = error;
  return failed;
}

struct Split {
  std::string above;
  std::string name;
};

Split split_last(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {.above = "", .name = path};
  return {.above = path.substr(0, slash), .name = path.substr(slash + 1)};
}

}  // namespace

Result<Fd> open_root(const std::string& path) {
  Fd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return fail_errno("open " + path);
  return fd;
}

Result<Fd> open_exact(const std::string& path, int flags) {
  const auto root = TRY(open_root("/"));
  const auto first = path.find_first_not_of('/');
  return open_within(root.get(), first == std::string::npos ? "." : path.substr(first), flags,
                     Walk::NoLinks);
}

Result<Fd> open_within(int root, const std::string& path, int flags, Walk walk) {
  auto fd = try_open(root, path.empty() ? "." : path, flags, walk);
  if (!fd.valid()) return refused(path);
  return fd;
}

Result<Fd> make_directories_within(int root, const std::string& path, mode_t mode, Walk walk) {
  if (auto there = try_open(root, path.empty() ? "." : path, O_PATH | O_DIRECTORY, walk);
      there.valid()) {
    return there;
  }
  Fd here = TRY(open_within(root, ".", O_PATH | O_DIRECTORY, walk));
  std::string done;
  for (const auto word : split(path, '/')) {
    if (word.empty() || word == ".") continue;
    const std::string part(word);
    done += (done.empty() ? "" : "/") + part;
    // From the root every time: a link may lead up, as long as it stays inside.
    auto next = try_open(root, done, O_PATH | O_DIRECTORY, walk);
    if (!next.valid() && errno == ENOENT) {
      const bool made = ::mkdirat(here.get(), part.c_str(), mode) == 0;
      if (!made && errno != EEXIST) return fail_errno("mkdir " + printable(path));
      // Ours, or of somebody who was faster; a link that leads nowhere stays where it is.
      next = try_open(here.get(), part, O_PATH | O_DIRECTORY | O_NOFOLLOW, Walk::NoLinks);
      if (made && next.valid()) ::chmod(descriptor_path(next.get()).c_str(), mode);  // no umask
    }
    if (!next.valid()) return refused(path);
    here = std::move(next);
  }
  return here;
}

Result<Fd> make_file_within(int root, const std::string& path, mode_t mode, Walk walk) {
  auto found = try_open(root, path, O_PATH, walk);
  if (found.valid()) return found;
  if (errno != ENOENT) return refused(path);
  const auto [above, name] = split_last(path);
  const auto directory = TRY(make_directories_within(root, above, kDirectoryBits, walk));
  constexpr int kNew = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Fd made(::openat(directory.get(), name.c_str(), kNew, mode));
  if (!made.valid()) return refused(path);
  return made;
}

Result<std::string> path_of(int fd) {
  char text[PATH_MAX];
  const auto size = ::readlink(descriptor_path(fd).c_str(), text, sizeof text);
  if (size < 0) return fail_errno("path of a descriptor");
  return std::string(text, static_cast<std::size_t>(size));
}

std::string descriptor_path(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace muster::node::linux
