#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "machine.h"

namespace muster::node {
namespace {

using namespace std::chrono_literals;

TEST_F(RuntimeTest, RunsAProgramWithItsArgumentsEnvironmentAndDirectory) {
  open_runtime();
  pod("a");
  auto spec = container(
      {"sh", "-c", "pwd; hostname; echo \"$GREETING $1\"; env | sort", "sh", "two words"});
  spec.env.emplace_back("GREETING", "hello\"quoted\"");
  spec.cwd = "/not/there/yet";
  EXPECT_EQ(run_container("a", spec).exit_code, 0);
  EXPECT_EQ(output("a"),
            "/not/there/yet\nhost-a\nhello\"quoted\" two words\n"
            "GREETING=hello\"quoted\"\nPATH=/usr/bin:/bin\nPWD=/not/there/yet\n");
  remove("a");
}

TEST_F(RuntimeTest, ALineIsInTheLogBeforeItEnds) {
  open_runtime();
  pod("a");
  start("a", container({"sh", "-c", "printf '\\r 10%%' >&2; echo whole; sleep 1000"}));
  EXPECT_TRUE(await_output("a", "\r 10%"));
  EXPECT_TRUE(await_output("a", "whole\n"));
  EXPECT_NE(log_file("a").find(" stderr P \r 10%\n"), std::string::npos) << log_file("a");
  EXPECT_NE(log_file("a").find(" stdout F whole\n"), std::string::npos) << log_file("a");
  remove("a");
}

TEST_F(RuntimeTest, ReportsExitCodesAndSignals) {
  open_runtime();
  pod("a");
  const auto code = run_container("a", container({"sh", "-c", "exit 42"}, 0));
  EXPECT_EQ(code.exit_code, 42);
  EXPECT_EQ(code.signal, 0);
  EXPECT_GE(code.finished, code.started);
  const auto killed = run_container("a", container({"sh", "-c", "kill -USR1 $$"}, 1));
  EXPECT_EQ(killed.exit_code, 128 + SIGUSR1);
  EXPECT_EQ(killed.signal, SIGUSR1);
  EXPECT_FALSE(killed.oom_killed);

  start("a", container({"sleep", "1000"}, 2));
  EXPECT_TRUE(run(runtime_->signal_container("a", "main", 2, SIGTERM)));
  EXPECT_EQ(wait("a", "main", 2).exit_code, 128 + SIGTERM);
  EXPECT_EQ(run(runtime_->signal_container("a", "main", 2, SIGTERM)).error().code,
            ErrorCode::NotFound);
  EXPECT_EQ(run(runtime_->wait_container("a", "main", 9)).error().code, ErrorCode::NotFound);
  remove("a");
}

TEST_F(RuntimeTest, SaysWhyAProgramCannotBeExecuted) {
  open_runtime();
  pod("a");
  const auto missing = run(runtime_->start_container("a", container({"no-such-program"}, 0)));
  ASSERT_TRUE(missing);
  EXPECT_FALSE(missing->start);
  EXPECT_EQ(missing->failure, StartFailure::NotFound);
  EXPECT_NE(missing->message.find("\"no-such-program\": executable file not found in $PATH"),
            std::string::npos);
  const auto again = run(runtime_->start_container("a", container({"true"}, 0)));
  EXPECT_EQ(again.value().failure, StartFailure::NotFound) << "an attempt is tried once";

  const auto directory = run(runtime_->start_container("a", container({"/etc/passwd"}, 1)));
  EXPECT_EQ(directory.value().failure, StartFailure::NotExecutable);

  auto bad_mount = container({"true"}, 2);
  bad_mount.mounts = {{.source = "/no/such/volume", .target = "/data"}};
  const auto unmountable = run(runtime_->start_container("a", bad_mount));
  EXPECT_EQ(unmountable.value().failure, StartFailure::Configuration);
  EXPECT_NE(unmountable->message.find("/no/such/volume"), std::string::npos);
  bad_mount.mounts.clear();
  EXPECT_EQ(run_container("a", bad_mount).exit_code, 0) << "it never ran, so it may be tried again";
  remove("a");
}

TEST_F(RuntimeTest, WritesStayInTheContainerUnlessTheyGoToAVolume) {
  open_runtime();
  pod("a");
  const auto volume = home_ + "/volume";
  std::filesystem::create_directories(volume);
  const auto marker = "/etc/muster-test-" + std::filesystem::path(home_).filename().string();
  auto spec = container({"sh", "-c",
                         "echo x > " + marker + " && cat " + marker +
                             " && echo kept > /data/in/kept && echo t > /tmp/mine && ls /tmp"
                             " && echo no > /fixed/no || echo read-only"});
  spec.mounts = {{.source = volume, .target = "/data/in"},
                 {.source = volume, .target = "/fixed", .read_only = true},
                 {.kind = Mount::Kind::Tmpfs, .target = "/memory", .size = 1 << 20}};
  EXPECT_EQ(run_container("a", spec).exit_code, 0) << output("a");
  EXPECT_NE(output("a").find("x\nmine\n"), std::string::npos) << output("a");
  EXPECT_NE(output("a").find("read-only\n"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(marker));
  EXPECT_EQ(read_text(volume + "/kept"), "kept\n");
  EXPECT_FALSE(std::filesystem::exists("/data/in"));

  // Another attempt begins with a clean root.
  EXPECT_EQ(run_container("a", container({"test", "-e", marker}, 1)).exit_code, 1);
  remove("a");
}

TEST_F(RuntimeTest, SeesDevicesProcAndNoOtherPods) {
  open_runtime();
  pod("a");
  const auto exit = run_container(
      "a",
      container(
          {"sh", "-c",
           "echo $$; head -c 4 /dev/zero | wc -c; echo > /dev/null; ls /dev/fd/0 /dev/pts/ptmx;"
           "touch /sys/x 2>/dev/null || echo sysfs fixed; ls -A " +
               home_ +
               " | wc -l;"
               "test -d /proc/1 && cat /proc/1/comm; ls /sys/class/net | tr '\\n' ' '"}));
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_EQ(output("a"), "2\n4\n/dev/fd/0\n/dev/pts/ptmx\nsysfs fixed\n0\nmuster-init\neth0 lo ");
  remove("a");
}

TEST_F(RuntimeTest, LinksHaveNoAddressThatNobodyAskedFor) {
  open_runtime();
  pod("a");
  run_container("a", container({"sh", "-c", "cat /proc/net/if_inet6 | grep -c eth0"}));
  EXPECT_EQ(output("a"), "0\n") << "IPv6 addresses";
  remove("a");
}

TEST_F(RuntimeTest, UsesADirectoryAsRootAloneOrOverTheHost) {
  open_runtime();
  pod("a");
  const auto root = home_ + "/image";
  std::filesystem::create_directories(root + "/bin");
  std::filesystem::copy_file(RUNTIME_PROBE, root + "/bin/probe");
  std::ofstream(root + "/file") << "of the image\n";
  auto over = container({"cat", "/file", "/etc/hostname"}, 0);
  over.root = {.kind = RootFilesystem::Kind::DirectoryOver, .directory = root};
  EXPECT_EQ(run_container("a", over).exit_code, 0);
  EXPECT_TRUE(output("a").starts_with("of the image\n"));
  auto alone = container({"sh"}, 1);
  alone.root = {.kind = RootFilesystem::Kind::Directory, .directory = root};
  EXPECT_EQ(run(runtime_->start_container("a", alone)).value().failure, StartFailure::NotFound);
  remove("a");
}

TEST_F(RuntimeTest, ReadsTheTerminationMessage) {
  open_runtime();
  pod("a");
  const auto exit = run_container(
      "a", container({"sh", "-c", "echo out of luck > /dev/termination-log; exit 3"}));
  EXPECT_EQ(exit.termination_message, "out of luck\n");
  EXPECT_EQ(exit.exit_code, 3);
  remove("a");
}

TEST_F(RuntimeTest, RunsAsAnotherUser) {
  open_runtime();
  pod("a");
  auto spec = container({"sh", "-c", "id -u; id -g; echo bye > /dev/termination-log"});
  spec.uid = 1234;
  spec.gid = 567;
  EXPECT_EQ(run_container("a", spec).termination_message, "bye\n");
  EXPECT_EQ(output("a"), "1234\n567\n");
  remove("a");
}

TEST_F(RuntimeTest, ExecutesInsideARunningContainer) {
  open_runtime();
  pod("a");
  auto spec = container({"sh", "-c", "echo secret > /only-here; echo up; sleep 1000"});
  spec.env.emplace_back("NAME", "value");
  start("a", spec);
  ASSERT_TRUE(await_output("a", "up"));
  const auto good =
      run(runtime_->exec("a", "main", {"sh", "-c", "cat /only-here; echo $NAME"}, 5s));
  EXPECT_EQ(good.value().exit_code, 0);
  EXPECT_EQ(good->output, "secret\nvalue\n");
  EXPECT_EQ(run(runtime_->exec("a", "main", {"false"}, 5s)).value().exit_code, 1);
  EXPECT_EQ(run(runtime_->exec("a", "main", {"no-such"}, 5s)).value().exit_code, 127);
  const auto late = run(runtime_->exec("a", "main", {"sh", "-c", "echo begun; sleep 1000"}, 200ms));
  EXPECT_TRUE(late.value().timed_out);
  EXPECT_EQ(late->output, "begun\n");
  EXPECT_EQ(run(runtime_->exec("a", "other", {"true"}, 5s)).error().code, ErrorCode::NotFound);
  remove("a");
}

}  // namespace
}  // namespace muster::node
