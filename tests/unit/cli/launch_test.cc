#include "cli/plane/launch.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include "bare_context.h"
#include "base/strings.h"
#include "json/read.h"
#include "temporary_home.h"

// How a command starts the control plane of its home: a program of its own, here a script.
namespace muster::cli {
namespace {

using ::testing::HasSubstr;

class Launch : public ::testing::Test {
 protected:
  Launch() { bare_.context.home = home_.path; }

  std::string script(const std::string& text) {
    const std::string path = home_.path + "/plane.sh";
    std::ofstream(path) << "#!/bin/sh\ncd '" << home_.path << "'\n" << text;
    EXPECT_EQ(::chmod(path.c_str(), 0700), 0);
    return path;
  }
  Result<std::unique_ptr<LaunchedPlane>> launch(const std::string& program,
                                                const json::Value& settings = {}) {
    auto lock = server::HomeLock::take(home_.path);
    EXPECT_TRUE(lock) << lock.error().message;
    return LaunchedPlane::launch(bare_.context, std::move(*lock), settings, program);
  }
  // How its start went.
  Result<void> start(const std::string& text) {
    auto plane = launch(script(text));
    EXPECT_TRUE(plane) << plane.error().message;
    return loop().run((*plane)->ready());
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(home_.path + "/" + name).rdbuf();
    return text.str();
  }
  rt::RealLoop& loop() { return bare_.loop; }

  TemporaryHome home_;
  BareContext bare_;
};

constexpr const char* kSuccess = "echo '{\"status\":\"Success\"}' >&4\n";

TEST_F(Launch, ItIsGivenTheFlagsForWhoeverRunsPods) {
  const json::Value settings = *json::read(R"({"images":["/a.yaml","/b.yaml"],
      "capacity":{"nvidia.com/gpu":4},"agentImage":"mine:1"})");
  auto plane = launch(script(std::string("echo \"$@\" > words\n") + kSuccess), settings);
  ASSERT_TRUE(plane) << plane.error().message;
  const auto ready = loop().run((*plane)->ready());
  EXPECT_TRUE(ready) << ready.error().message;
  EXPECT_EQ(file("words"), "--home " + home_.path +
                               " plane --images /a.yaml --images /b.yaml --capacity "
                               "nvidia.com/gpu=4 --agent-image mine:1\n");
}

TEST_F(Launch, TheHomeIsItsUntilItEnds) {
  // The socket does not block, so that `cat` would end at once.
  constexpr const char* kUntilHungUp =
      "exec python3 -c 'import select; hung_up = select.poll(); hung_up.register(4, "
      "select.POLLIN); hung_up.poll()'\n";
  auto plane = launch(script(std::string("echo $$ > pid\n") + kSuccess + kUntilHungUp));
  ASSERT_TRUE(plane) << plane.error().message;
  ASSERT_TRUE(loop().run((*plane)->ready()));
  EXPECT_FALSE(server::HomeLock::take(home_.path)) << "handed over";
  (*plane)->release();
  const auto pid = parse_int(trim(file("pid")));
  ASSERT_TRUE(pid);
  loop().run(wait_until_gone(loop(), static_cast<int>(*pid), std::chrono::seconds(20)));
  EXPECT_TRUE(server::HomeLock::take(home_.path));
}

TEST_F(Launch, NothingElseOfOursIsItsBusiness) {
  const Fd left_open(::fcntl(STDIN_FILENO, F_DUPFD, 50));
  const auto ready = start(
      fmt::format("[ -e /proc/self/fd/{} ] && echo leaked > seen\n"
                  "set -- $(cat /proc/$$/stat); [ $6 = $$ ] || echo our session >> seen\n"
                  "[ \"$(readlink /proc/$$/fd/1)\" = /dev/null ] || echo our output >> seen\n{}",
                  left_open.get(), kSuccess));
  EXPECT_TRUE(ready) << ready.error().message;
  EXPECT_EQ(file("seen"), "");
}

TEST_F(Launch, WhyItCannotStartIsToldInItsOwnWords) {
  const auto ready = start(
      "echo '{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Forbidden\",\"code\":403,"
      "\"message\":\"run as root\"}' >&4\n");
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().code, ErrorCode::Forbidden);
  EXPECT_EQ(ready.error().message, "run as root");
}

TEST_F(Launch, OneThatDiesWithoutAWordIsGone) {
  const auto ready = start("exit 3\n");
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().code, ErrorCode::Gone);
  EXPECT_EQ(ready.error().message, "the control plane ended while it started");
}

TEST_F(Launch, AProgramThatIsNotThereIsAnError) {
  const auto plane = launch(home_.path + "/nothing");
  ASSERT_FALSE(plane);
  EXPECT_THAT(plane.error().message, HasSubstr("start a control plane"));
}

// The other side's words.
TEST_F(Launch, HowTheStartWentIsOneLine) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const auto told = [&](const Result<void>& started) {
    tell_starter(theirs.get(), started);
    std::array<char, 4096> bytes{};
    const auto got = ::recv(ours.get(), bytes.data(), bytes.size(), 0);
    return std::string(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  };
  EXPECT_EQ(told({}), "{\"status\":\"Success\"}\n");
  const std::string refused = told(fail(ErrorCode::Forbidden, "run as root"));
  EXPECT_THAT(refused, HasSubstr("\"message\":\"run as root\""));
  EXPECT_TRUE(refused.ends_with("}\n"));
}

TEST_F(Launch, AHomeIsItsOwnersAlone) {
  const std::string path = home_.path + "/new/home";
  EXPECT_TRUE(make_home(path));
  struct stat made{};
  ASSERT_EQ(::stat(path.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777U, 0700U);
  std::ofstream(home_.path + "/file") << "x";
  const auto refused = make_home(home_.path + "/file/home");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("cannot make " + home_.path + "/file/home: "));
}

}  // namespace
}  // namespace muster::cli
