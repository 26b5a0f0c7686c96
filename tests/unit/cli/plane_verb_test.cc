#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/fd.h"
#include "cli/plane/launch.h"
#include "cli/verbs/verbs.h"
#include "temporary_home.h"
#include "verb_fixture.h"

// `muster plane`: other commands start it, with descriptors 3 and 4 open for it.
namespace muster::cli {
namespace {

class PlaneVerb : public ::testing::Test {
 protected:
  PlaneVerb() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // The verb in this process, which ends with it and tells everything on standard error.
  [[noreturn]] void be_plane(const Fd& starter = {}) {
    const int error = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);  // its log takes our own
    CapturedOutput output;
    int code = 0;
    {
      rt::RealLoop loop;
      rt::Pool pool{1};
      SystemRng rng;
      const plan::Registry registry;
      Context context{.loop = loop,
                      .pool = pool,
                      .rng = rng,
                      .registry = registry,
                      .environment = {},
                      .log = {},
                      .output = output,
                      .home = home_.path};
      code = loop.run(plane(context));
    }
    ::dup2(error, STDERR_FILENO);
    std::array<char, 4096> told{};
    if (starter.valid()) ::recv(starter.get(), told.data(), told.size() - 1, MSG_DONTWAIT);
    std::cerr << output.err << told.data() << std::ifstream(plane_log_path(home_.path)).rdbuf()
              << std::flush;
    std::filesystem::remove_all(home_.path);
    std::exit(code);
  }
  // The same as a command starts it.
  [[noreturn]] void be_started() {
    std::array<int, 2> ends{};
    ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data());
    const Fd ours(::fcntl(ends[0], F_DUPFD_CLOEXEC, 100));
    const int theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 100);
    const auto lock = server::HomeLock::take(home_.path);
    const int taken = ::fcntl(lock->descriptor(), F_DUPFD_CLOEXEC, 100);
    ::dup2(taken, kPlaneLock);
    ::dup2(theirs, kPlaneStarter);
    be_plane(ours);
  }
  TemporaryHome home_;
};

TEST_F(PlaneVerb, IsNotForPeople) {
  EXPECT_EXIT(
      {
        ::close(kPlaneLock);
        ::close(kPlaneStarter);
        be_plane();
      },
      ::testing::ExitedWithCode(exit_code::kUsage),
      "error: only other commands of muster start this one; keep a control plane running with: "
      "muster up");
}

// Tests are not beside the programs that run pods.
TEST_F(PlaneVerb, TellsWhoStartedItWhyItCannotAndLeavesItInItsLog) {
  EXPECT_EXIT(be_started(), ::testing::ExitedWithCode(exit_code::kFailed),
              "\"message\":\"[^\"]*/muster-shim is missing[^\"]*\".*\n.*"
              "ERROR plane: .*/muster-shim is missing");
}

}  // namespace
}  // namespace muster::cli
