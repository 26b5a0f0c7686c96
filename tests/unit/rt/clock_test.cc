#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/fd.h"
#include "rt/real_loop.h"

namespace muster::rt {
namespace {

using namespace std::chrono_literals;

constexpr int kCannotTell = 77;

// Runs `body` in a process of a time namespace whose CLOCK_BOOTTIME is ahead by `seconds`, as on a
// machine that slept; CLOCK_MONOTONIC is the same inside and outside. Gives its exit code.
template <class Body>
int on_a_machine_that_slept(int seconds, Body body) {
  const pid_t maker = ::fork();
  if (maker == 0) {
    if (::unshare(CLONE_NEWTIME) != 0) ::_exit(kCannotTell);
    const Fd offsets(::open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC));
    const std::string line = "boottime " + std::to_string(seconds) + " 0\n";
    if (::write(offsets.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      ::_exit(kCannotTell);
    const pid_t inside = ::fork();
    if (inside == 0) ::_exit(body());
    int status = 0;
    ::waitpid(inside, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  int status = 0;
  ::waitpid(maker, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

TEST(SystemClock, CountsTheTimeThatTheMachineSlept) {
  const Monotonic before = SystemClock().monotonic();
  const int code = on_a_machine_that_slept(1000, [before] {
    const Duration passed = SystemClock().monotonic() - before;
    return passed >= 1000s && passed < 1060s ? 0 : 1;
  });
  if (code == kCannotTell) GTEST_SKIP() << "a time namespace needs root";
  EXPECT_EQ(code, 0);
}

TEST(RealLoop, TimersTakeAsLongOnAMachineThatSlept) {
  const int code = on_a_machine_that_slept(1000, [] {
    RealLoop loop;
    const auto begun = std::chrono::steady_clock::now();
    const auto slept = loop.run(sleep_for(loop, 50ms));
    const auto took = std::chrono::steady_clock::now() - begun;
    return slept && took >= 50ms && took < 10s ? 0 : 1;
  });
  if (code == kCannotTell) GTEST_SKIP() << "a time namespace needs root";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace muster::rt
