#include "node/runtime/nursery.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "base/spawn.h"
#include "node/shim/nursery.h"

namespace muster::node {

namespace {

// It only has to see that nobody asks any more.
constexpr int kEndMilliseconds = 1'000;

// Only the first limit: a program may raise it to the second, which we leave alone.
void set_open_files(int pid, std::uint64_t count) {
  rlimit files{};
  if (count == 0 || ::prlimit(pid, RLIMIT_NOFILE, nullptr, &files) != 0) return;
  files.rlim_cur = std::min<rlim_t>(count, files.rlim_max);
  ::prlimit(pid, RLIMIT_NOFILE, &files, nullptr);
}

}  // namespace

Result<void> Nursery::bear(const std::string& message, const Fd& lock, const Fd& ready) {
  const std::lock_guard guard(mutex_);
  if (births_.valid() && shim::send_birth(births_, message, lock, ready)) return {};
  end();  // somebody killed it
  TRY(start());
  return shim::send_birth(births_, message, lock, ready);
}

void Nursery::get_ready() {
  const std::lock_guard guard(mutex_);
  if (births_.valid()) return;
  [[maybe_unused]] const auto started = start();
}

Result<void> Nursery::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair");
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  auto words = shim::nursery_words(options_.home_key);
  words.insert(words.begin(), options_.program);
  pid_ = TRY(spawn_apart(
      {.program = options_.program, .words = std::move(words), .handed = {theirs.get()}}));
  set_open_files(pid_, options_.open_files);
  births_ = std::move(ours);
  return {};
}

void Nursery::end() {
  births_.close();
  if (pid_ == 0) return;
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
  if (::poll(&ended, 1, kEndMilliseconds) == 0) ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, 0), nullptr, 0);
}

}  // namespace muster::node
