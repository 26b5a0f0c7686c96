#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/fd.h"
#include "base/strings.h"
#include "machine.h"

// How pods end, and how they outlive Muster.
namespace muster::node {
namespace {

// How many groups there are below the home's of that key, by the name of the last.
int groups_of(const std::string& home_key, const std::string& name) {
  namespace fs = std::filesystem;
  int found = 0;
  std::error_code error;
  fs::recursive_directory_iterator it("/sys/fs/cgroup",
                                      fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    const auto path = it->path().string();
    if (path.find("/" + home_key + "/") != std::string::npos && path.ends_with("/" + name)) ++found;
  }
  return found;
}

using namespace std::chrono_literals;

std::size_t probes_alive() {
  return static_cast<std::size_t>(std::ranges::count_if(
      describe_machine(),
      [](const std::string& line) { return line.starts_with("process runtime_probe"); }));
}

TEST_F(RuntimeTest, KillsAContainerThatTakesTooMuchMemory) {
  open_runtime();
  pod("a");
  auto spec = container({RUNTIME_PROBE, "eat", "200"});
  spec.limits.memory_bytes = 64 << 20;
  const auto exit = run_container("a", spec);
  EXPECT_TRUE(exit.oom_killed);
  EXPECT_EQ(exit.exit_code, 137);
  auto within = container({RUNTIME_PROBE, "eat", "16"}, 1);
  within.limits.memory_bytes = 64 << 20;
  const auto fine = run_container("a", within);
  EXPECT_FALSE(fine.oom_killed);
  EXPECT_EQ(fine.exit_code, 0);
  // A SIGKILL of somebody else is not the kernel's.
  start("a", container({"sleep", "1000"}, 2));
  EXPECT_TRUE(run(runtime_->kill_container("a", "main", 2)));
  const auto killed = wait("a", "main", 2);
  EXPECT_EQ(killed.exit_code, 137);
  EXPECT_FALSE(killed.oom_killed);
  remove("a");
}

TEST_F(RuntimeTest, SetsLimitsOnCgroups) {
  open_runtime();
  SandboxSpec spec;
  spec.limits.memory_bytes = 256 << 20;
  pod("a", spec);
  auto work = container({"sleep", "1000"});
  work.limits = {.cpu_milli = 1500, .memory_bytes = 128 << 20, .cpu_request_milli = 500};
  const auto pid = start("a", work).pid;
  std::string cpu;
  std::string memory;
  const auto groups = read_text("/proc/" + std::to_string(pid) + "/cgroup");
  for (const auto line : split(groups, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    if (fields[1] == "cpu") cpu = "/sys/fs/cgroup/cpu" + std::string(fields[2]);
    if (fields[1] == "memory") memory = "/sys/fs/cgroup/memory" + std::string(fields[2]);
    if (fields[0] == "0" && std::filesystem::exists("/sys/fs/cgroup/cgroup.controllers")) {
      cpu = memory = "/sys/fs/cgroup" + std::string(fields[2]);
    }
  }
  if (std::filesystem::exists(cpu + "/cpu.max")) {
    EXPECT_EQ(read_text(cpu + "/cpu.max"), "150000 100000\n");
    EXPECT_EQ(read_text(memory + "/memory.max"), "134217728\n");
    EXPECT_EQ(read_text(memory + "/../memory.max"), "268435456\n");
  } else {
    EXPECT_EQ(read_text(cpu + "/cpu.cfs_quota_us"), "150000\n");
    EXPECT_EQ(read_text(cpu + "/cpu.shares"), "512\n");
    EXPECT_EQ(read_text(memory + "/memory.limit_in_bytes"), "134217728\n");
    EXPECT_EQ(read_text(memory + "/../memory.limit_in_bytes"), "268435456\n");
  }
  remove("a");
}

// To remove it takes a while, and mostly it goes with the pod.
TEST_F(RuntimeTest, AContainersGroupGoesWhenItsNextAttemptBeginsOrWithItsPod) {
  open_runtime();
  pod("a");
  run_container("a", container({"true"}));
  const auto key = home_key(home_);
  EXPECT_GT(groups_of(key, "main-0"), 0);
  run_container("a", container({"true"}, 1));
  EXPECT_EQ(groups_of(key, "main-0"), 0);
  EXPECT_GT(groups_of(key, "main-1"), 0);
  remove("a");
  EXPECT_EQ(groups_of(key, "main-1") + groups_of(key, "a"), 0);
}

TEST_F(RuntimeTest, AnEndIsToldToEveryoneWhoAsks) {
  open_runtime();
  pod("a");
  start("a", container({"sh", "-c", "exit 3"}));
  EXPECT_EQ(wait("a").exit_code, 3);
  EXPECT_EQ(wait("a").exit_code, 3) << "asked for with the start the first time, and now alone";
  start("a", container({"sleep", "1000"}, 1));
  auto late = run(rt::with_timeout(*loop_, 20ms, runtime_->wait_container("a", "main", 1)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Timeout);
  ASSERT_TRUE(run(runtime_->kill_container("a", "main", 1)));
  EXPECT_EQ(wait("a", "main", 1).exit_code, 137) << "who asked before gave up";
  remove("a");
}

TEST_F(RuntimeTest, EndsWhatAContainerLeavesBehindBeforeItReportsTheEnd) {
  open_runtime();
  pod("a");
  EXPECT_EQ(run_container("a", container({RUNTIME_PROBE, "daemon"})).exit_code, 0);
  EXPECT_EQ(probes_alive(), 0U);
  remove("a");
}

TEST_F(RuntimeTest, KillsTheWholePodAtOnce) {
  open_runtime();
  pod("a");
  auto stubborn = container({"sh", "-c",
                             std::string("trap '' TERM; ") + RUNTIME_PROBE +
                                 " daemon; echo up; while true; do sleep 1; done"});
  start("a", stubborn);
  auto side = container({RUNTIME_PROBE, "serve", "80", "x"});
  side.name = "side";
  start("a", side);
  ASSERT_TRUE(await_output("a", "up"));
  EXPECT_EQ(probes_alive(), 2U);
  EXPECT_TRUE(run(runtime_->signal_container("a", "main", 0, SIGTERM)));
  EXPECT_TRUE(run(runtime_->kill_sandbox("a")));
  EXPECT_EQ(wait("a").exit_code, 137);
  EXPECT_EQ(wait("a", "side").exit_code, 137);
  EXPECT_EQ(probes_alive(), 0U);
  EXPECT_EQ(run(runtime_->start_container("a", container({"true"}, 1))).error().code,
            ErrorCode::Gone);
  remove("a");
}

TEST_F(RuntimeTest, StartsAnAttemptOnlyOnce) {
  open_runtime();
  pod("a");
  const auto volume = home_ + "/volume";
  std::filesystem::create_directories(volume);
  auto spec = container({"sh", "-c", "echo ran >> /data/runs; sleep 1000"});
  spec.mounts = {{.source = volume, .target = "/data"}};
  const auto first = start("a", spec);
  // It must have run before it is killed below, or there is nothing to count.
  for (int looks = 0; looks < 2000 && read_text(volume + "/runs").empty(); ++looks) {
    ASSERT_TRUE(run(rt::sleep_for(*loop_, 5ms)));
  }
  const auto second = start("a", spec);
  EXPECT_EQ(first.pid, second.pid);
  EXPECT_EQ(first.started, second.started);
  auto next = spec;
  next.attempt = 1;
  EXPECT_EQ(run(runtime_->start_container("a", next)).error().code, ErrorCode::Conflict)
      << "the old one lives";
  EXPECT_TRUE(run(runtime_->kill_container("a", "main", 0)));
  wait("a");
  EXPECT_EQ(start("a", spec).pid, first.pid) << "also after its end";
  EXPECT_EQ(wait("a").exit_code, 137);
  EXPECT_EQ(read_text(volume + "/runs"), "ran\n");
  remove("a");
}

// Runs `work` in a process of its own, and kills that once the work is done.
template <class Work>
void in_a_muster_that_is_killed(Work work) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int pid = ::fork();
  if (pid == 0) {
    work();
    [[maybe_unused]] const auto said = ::write(ends[1], "k", 1);
    while (true) ::pause();
  }
  char done = 0;
  ASSERT_EQ(::read(ends[0], &done, 1), 1);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(RuntimeTest, AdoptsPodsOfAMusterThatWasKilled) {
  const auto volume = home_ + "/volume";
  std::filesystem::create_directories(volume);
  auto spec = container({"sh", "-c",
                         "echo ran >> /data/runs; while ! test -e /data/go; do sleep 0.02; done; "
                         "echo late; exit 23"});
  spec.mounts = {{.source = volume, .target = "/data"}};
  auto brief = container({"sh", "-c", "exit 5"});
  brief.name = "brief";
  in_a_muster_that_is_killed([&] {
    open_runtime();
    pod("a");
    start("a", spec);
    run_container("a", brief);
  });

  open_runtime();
  const auto adopted = run(runtime_->adopt());
  ASSERT_TRUE(adopted) << adopted.error().message;
  ASSERT_EQ(adopted->size(), 1U);
  const auto& sandbox = adopted->front();
  EXPECT_TRUE(sandbox.alive);
  EXPECT_EQ(sandbox.sandbox.pod_uid, "a");
  EXPECT_EQ(sandbox.pod_name, "pod-a");
  ASSERT_EQ(sandbox.containers.size(), 2U);
  EXPECT_EQ(sandbox.containers[0].name, "brief");
  EXPECT_EQ(sandbox.containers[0].exit.value().exit_code, 5);
  EXPECT_EQ(sandbox.containers[1].name, "main");
  EXPECT_FALSE(sandbox.containers[1].exit);

  EXPECT_EQ(pod("a").address, sandbox.sandbox.address) << "it keeps its address";
  EXPECT_NE(pod("b").address, sandbox.sandbox.address) << "which nobody else gets";
  EXPECT_EQ(start("a", spec).pid, sandbox.containers[1].start.pid);
  Fd(::open((volume + "/go").c_str(), O_CREAT | O_WRONLY, 0644));
  EXPECT_EQ(wait("a").exit_code, 23);
  EXPECT_EQ(output("a"), "late\n");
  EXPECT_EQ(wait("a", "brief").exit_code, 5);
  EXPECT_EQ(read_text(volume + "/runs"), "ran\n");
  remove("a");
  remove("b");
}

TEST_F(RuntimeTest, LearnsOfAnEndThatCameWhileMusterWasAway) {
  const auto volume = home_ + "/volume";
  std::filesystem::create_directories(volume);
  auto spec = container({"sh", "-c", "sleep 0.1; head -c 300000 /dev/zero; exit 7"});
  int shim_side = 0;
  in_a_muster_that_is_killed([&] {
    open_runtime();
    pod("a");
    shim_side = start("a", spec).pid;
  });
  open_runtime();
  ASSERT_TRUE(run(runtime_->adopt()));
  EXPECT_EQ(wait("a").exit_code, 7) << "300 kB of output did not block it";
  EXPECT_EQ(output("a").size(), 300'000U);
  remove("a");
}

TEST_F(RuntimeTest, KnowsThatAPodDiedWithItsShim) {
  open_runtime();
  const auto address = pod("a").address;
  start("a", container({RUNTIME_PROBE, "serve", "80", "x"}));
  kill_the("muster-shim", state());
  const auto exit = wait("a");
  EXPECT_TRUE(exit.unknown);
  EXPECT_EQ(exit.exit_code, 137);
  EXPECT_EQ(probes_alive(), 0U);
  // The same pod gets a new life, and remembers the attempts it had.
  EXPECT_EQ(pod("a").address, address);
  EXPECT_TRUE(wait("a").unknown);
  EXPECT_EQ(run_container("a", container({"sh", "-c", "exit 9"}, 1)).exit_code, 9);
  start("a", container({RUNTIME_PROBE, "serve", "80", "x"}, 2));
  kill_the("muster-shim", state());
  pod("a");
  EXPECT_EQ(probes_alive(), 0U) << "the old life is over before the new one begins";
  EXPECT_TRUE(wait("a", "main", 2).unknown);
  remove("a");
}

// As after a loss of power: what was in memory is gone, and nothing runs.
TEST_F(RuntimeTest, WhatWentDownWithTheMachineIsNotBegunASecondTime) {
  open_runtime();
  pod("a");
  run_container("a", container({"sh", "-c", "exit 0"}));
  start("a", container({RUNTIME_PROBE, "serve", "80", "x"}, 1));
  kill_the("muster-shim", state());
  EXPECT_TRUE(wait("a", "main", 1).unknown);
  close_runtime();
  std::filesystem::remove_all(state());
  open_runtime();
  const auto adopted = run(runtime_->adopt());
  ASSERT_TRUE(adopted) << adopted.error().message;
  ASSERT_EQ(adopted->size(), 1U);
  EXPECT_FALSE(adopted->front().alive);
  EXPECT_EQ(adopted->front().pod_name, "pod-a");
  ASSERT_EQ(adopted->front().containers.size(), 2U);
  for (const auto& container : adopted->front().containers) {
    ASSERT_TRUE(container.exit);
    EXPECT_TRUE(container.exit->unknown);
  }
  EXPECT_FALSE(pod("a").address.empty());
  EXPECT_TRUE(wait("a", "main", 1).unknown);
  EXPECT_EQ(run_container("a", container({"sh", "-c", "exit 9"}, 2)).exit_code, 9);
  remove("a");
  EXPECT_TRUE(std::filesystem::is_empty(home_ + "/pods"));
}

TEST_F(RuntimeTest, WhatRunsAlthoughItsStateWasDeletedEndsBeforeItIsTakenForLost) {
  open_runtime();
  pod("a");
  start("a", container({RUNTIME_PROBE, "serve", "80", "x"}));
  close_runtime();
  std::filesystem::remove_all(state());
  open_runtime();
  const auto adopted = run(runtime_->adopt());
  ASSERT_TRUE(adopted) << adopted.error().message;
  ASSERT_EQ(adopted->size(), 1U);
  EXPECT_EQ(probes_alive(), 0U) << "it would run twice";
  EXPECT_EQ(wait("a").exit_code, 137);  // its shim may still have seen it
  remove("a");
  kill_the("muster-shim", state());
}

TEST_F(RuntimeTest, APodThatLostItsFirstProcessGetsANewLife) {
  open_runtime();
  const auto address = pod("a").address;
  start("a", container({RUNTIME_PROBE, "serve", "80", "x"}));
  kill_the("muster-init", state());
  EXPECT_EQ(wait("a").exit_code, 137);
  EXPECT_EQ(probes_alive(), 0U);
  EXPECT_EQ(pod("a").address, address);
  EXPECT_EQ(run_container("a", container({"sh", "-c", "exit 9"}, 1)).exit_code, 9);
  remove("a");
}

TEST_F(RuntimeTest, RefusesASecondMusterInTheSameHome) {
  open_runtime();
  auto second = create_runtime(*loop_, *pool_, {.home = home_, .shim_path = MUSTER_SHIM});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::Conflict);
}

}  // namespace
}  // namespace muster::node
