#include "cli/terminal/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/context.h"

namespace muster::cli {
namespace {

constexpr std::size_t kMostHeld = std::size_t{64} << 10U;

// 0, or the errno of what went wrong. A terminal or pipe that somebody made non-blocking is waited
// for.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd room{.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void StandardOutput::write(std::string_view text) {
  if (failure_ != 0) return;
  held_ += text;
  if (held_.size() > kMostHeld) flush();
}

void StandardOutput::make_room() {
  flush();  // in the order in which it was said
  if (before_text_) before_text_(Stream::Error);
}

void StandardOutput::write_error(std::string_view text) {
  make_room();
  write_all(STDERR_FILENO, text);
}

void StandardOutput::flush() {
  if (held_.empty() || failure_ != 0) return;
  if (before_text_) before_text_(Stream::Out);
  failure_ = write_all(STDOUT_FILENO, std::exchange(held_, {}));
  if (failure_ != 0 && broken_) broken_();
}

void StandardOutput::draw(std::string_view text) {
  write_all(STDERR_FILENO, text);
}

int StandardOutput::finish(int code) {
  flush();
  if (failure_ == 0) return code;
  if (failure_ == EPIPE) {
    static_cast<void>(std::signal(SIGPIPE, SIG_DFL));
    static_cast<void>(std::raise(SIGPIPE));
  }
  write_all(STDERR_FILENO, fmt::format("error: cannot write to standard output: {}\n",
                                       std::strerror(failure_)));  // NOLINT(concurrency-mt-unsafe)
  return exit_code::kFailed;
}

}  // namespace muster::cli
