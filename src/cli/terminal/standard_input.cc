#include "cli/terminal/standard_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace muster::cli {
namespace {

constexpr std::size_t kReadBytes = std::size_t{32} << 10U;

// Opened anew where that is possible: a terminal that waits for nobody would otherwise do so for
// the shell, too. A file is shared, so that its position is.
int own_input() {
  const bool seekable = ::lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0;
  if (!seekable) {
    const int fd = ::open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) return fd;
  }
  return ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
}

}  // namespace

StandardInput::StandardInput(rt::RealLoop& loop)
    : flags_(::fcntl(STDIN_FILENO, F_GETFL)), descriptor_(loop, own_input()) {}

StandardInput::~StandardInput() {
  if (flags_ >= 0) ::fcntl(STDIN_FILENO, F_SETFL, flags_);
}

Task<Result<std::optional<std::string>>> StandardInput::next() {
  std::string bytes(kReadBytes, '\0');
  while (true) {
    const auto ready = co_await descriptor_.readable();
    if (!ready && ready.error().code == ErrorCode::Cancelled) co_return fail(ready.error());
    // Any other error: it is of a kind that never waits, a file or /dev/null.
    const auto got = ::read(descriptor_.fd(), bytes.data(), bytes.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got < 0 && errno != EIO) co_return fail_errno("standard input");
    if (got <= 0) co_return std::optional<std::string>();  // EIO: the terminal is gone
    bytes.resize(static_cast<std::size_t>(got));
    co_return std::optional(std::move(bytes));
  }
}

}  // namespace muster::cli
