#include "node/linux/process.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::node::linux {
namespace {

enum class Mounts { Ours, Own };

// A process that sleeps until it is killed; it is where it shall be when this returns.
int sleeper(Mounts mounts) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const int pid = ::fork();
  if (pid == 0) {
    if (mounts == Mounts::Own && ::unshare(CLONE_NEWNS) != 0) ::_exit(1);
    ::close(ends[0]);
    ::close(ends[1]);
    for (;;) ::pause();
  }
  ::close(ends[1]);
  char none = 0;
  EXPECT_EQ(::read(ends[0], &none, 1), 0);  // both of its ends are closed
  ::close(ends[0]);
  return pid;
}

int signal_that_ended(int pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(KillAllIn, EndsWhoIsInTheMountNamespaceAndNobodyElse) {
  const int inside = sleeper(Mounts::Own);
  const int elsewhere = sleeper(Mounts::Own);
  const int beside = sleeper(Mounts::Ours);
  const Fd mounts = mounts_of(inside);
  ASSERT_TRUE(mounts.valid());

  EXPECT_FALSE(kill_all_in(mounts));
  EXPECT_EQ(signal_that_ended(inside), SIGKILL);
  EXPECT_TRUE(kill_all_in(mounts));

  for (const int other : {elsewhere, beside}) {
    EXPECT_EQ(::waitpid(other, nullptr, WNOHANG), 0);
    ::kill(other, SIGKILL);
    EXPECT_EQ(signal_that_ended(other), SIGKILL);
  }
}

TEST(KillAllIn, TheNumberOfAHeldNamespaceIsNobodyElses) {
  const int first = sleeper(Mounts::Own);
  const Fd mounts = mounts_of(first);
  ::kill(first, SIGKILL);
  signal_that_ended(first);
  const int next = sleeper(Mounts::Own);
  EXPECT_TRUE(kill_all_in(mounts));
  EXPECT_EQ(::waitpid(next, nullptr, WNOHANG), 0);
  ::kill(next, SIGKILL);
  signal_that_ended(next);
}

TEST(KillAllIn, LeavesTheOneThatWeAreInAlone) {
  const int beside = sleeper(Mounts::Ours);
  EXPECT_TRUE(kill_all_in(mounts_of(::getpid())));
  EXPECT_TRUE(kill_all_in(Fd()));
  EXPECT_EQ(::waitpid(beside, nullptr, WNOHANG), 0);
  ::kill(beside, SIGKILL);
  signal_that_ended(beside);
}

}  // namespace
}  // namespace muster::node::linux
