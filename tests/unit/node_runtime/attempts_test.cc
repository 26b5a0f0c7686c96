#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include <fmt/format.h>

#include "machine.h"

namespace muster::node {
namespace {

// What tests/e2e/local-isolation.suite lets pods try, under the profile RuntimeDefault, which
// refuses more.
class AttemptsTest : public RuntimeTest {
 protected:
  static constexpr key_t kKey = 0x4d77;

  std::string facts() const {
    return fmt::format(
        R"({{"home":"{0}","host_pid":{1},"token":"none","ipc_key":{2},"victim_ipc_key":{3},)"
        R"("queue":"none","abstract_socket":"muster-none","path_socket":"/none","run_socket":"/none",)"
        R"("port":1,"key":"none","host_tmp":"/none","volume":"/tmp","device_on_volume":"/none",)"
        R"("victim_uid":"none","victim_layer":"/none","victim_volume":"/none",)"
        R"("victim_secret":"/none"}})",
        home_, ::getpid(), kKey, kKey + 1);
  }
  std::string attack(const std::string& uid, std::optional<std::uint32_t> user) {
    pod(uid);
    auto spec = container({"/usr/bin/python3", "-B", "-c", read_text(ISOLATION_ATTEMPTS)});
    spec.env.emplace_back("MUSTER_FACTS", facts());
    spec.seccomp = ContainerSpec::Seccomp::RuntimeDefault;
    spec.uid = spec.gid = user;
    EXPECT_EQ(run_container(uid, spec).exit_code, 0);
    auto seen = output(uid);
    remove(uid);
    return seen;
  }
};

TEST_F(AttemptsTest, AllAreRefusedUnderTheProfileToo) {
  open_runtime();
  const int memory = ::shmget(kKey, 4096, IPC_CREAT | 0666);
  ASSERT_GE(memory, 0);
  for (const auto user : {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(65534)}) {
    const auto seen = attack(user ? "user" : "root", user);
    EXPECT_EQ(seen.find("REACHED"), std::string::npos) << seen;
    EXPECT_NE(seen.find("filtered True"), std::string::npos) << seen;
    EXPECT_NE(seen.find("refused system call keyctl (EPERM)"), std::string::npos) << seen;
  }
  ::shmctl(memory, IPC_RMID, nullptr);
}

TEST_F(AttemptsTest, OrdinaryProgramsDoNotMeetTheProfile) {
  open_runtime();
  pod("a");
  auto spec = container({"/usr/bin/python3", "-B", "-c", R"(
import ctypes, mmap, multiprocessing, socket, subprocess, tempfile, threading
libc = ctypes.CDLL(None, use_errno=True)
threads = [threading.Thread(target=lambda: None) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
assert subprocess.run(['sh', '-c', 'exit 3']).returncode == 3
queue = multiprocessing.Queue()
child = multiprocessing.Process(target=queue.put, args=(7,))
child.start()
assert queue.get() == 7
child.join()
mmap.mmap(-1, 4096)
socket.socketpair()
tempfile.TemporaryFile()
assert libc.personality(0xffffffff) == 0 and libc.personality(0) == 0, 'personality'
assert libc.unshare(0x400) == 0, 'unshare of files'
print('fine')
)"});
  spec.seccomp = ContainerSpec::Seccomp::RuntimeDefault;
  EXPECT_EQ(run_container("a", spec).exit_code, 0);
  EXPECT_EQ(output("a"), "fine\n");
  remove("a");
}

TEST_F(AttemptsTest, ARightLetsItsCallsThrough) {
  open_runtime();
  pod("a");
  constexpr std::uint64_t kAdministrator = std::uint64_t{1} << 21U;
  auto spec =
      container({"sh", "-c", "mount -t tmpfs none /mnt && unshare -m true && echo mounted"});
  spec.seccomp = ContainerSpec::Seccomp::RuntimeDefault;
  spec.capabilities = kAdministrator;
  run_container("a", spec);
  EXPECT_EQ(output("a"), "mounted\n");
  remove("a");
}

TEST_F(AttemptsTest, ASessionIsUnderTheProfileOfItsContainer) {
  open_runtime();
  pod("a");
  auto spec = container({"sleep", "1000"});
  spec.seccomp = ContainerSpec::Seccomp::RuntimeDefault;
  spec.capabilities = 0;
  spec.no_new_privileges = true;
  start("a", spec);
  const auto seen = run(runtime_->exec(
      "a", "main",
      {"sh", "-c",
       "grep -E '^(CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; cat /proc/self/cgroup"},
      std::chrono::seconds(10)));
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_TRUE(seen->output.starts_with("CapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"))
      << seen->output;
  EXPECT_EQ(seen->output.find("muster"), std::string::npos) << seen->output;
  remove("a");
}

}  // namespace
}  // namespace muster::node
