#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <functional>

#include "base/strings.h"
#include "machine.h"
#include "node/shim/rights/sysctls.h"

namespace muster::node {
namespace {

// What a container may do, as it sees it from inside.
class RightsTest : public RuntimeTest {
 protected:
  std::string look(const std::string& script, const std::function<void(ContainerSpec&)>& set = {},
                   SandboxSpec sandbox = {}) {
    const auto uid = "look-" + std::to_string(++looks_);  // logs stay
    pod(uid, std::move(sandbox));
    auto spec = container({"sh", "-c", "exec 2>&1; " + script});
    if (set) set(spec);
    run_container(uid, spec);
    auto seen = output(uid);
    remove(uid);
    return seen;
  }

 private:
  int looks_ = 0;
};

constexpr const char* kStatus =
    "sed -n 's/^\\(Uid\\|CapEff\\|CapBnd\\|CapInh\\|NoNewPrivs\\|Seccomp\\):.\\([0-9a-f]*\\).*/\\1 "
    "\\2/p' "
    "/proc/self/status";

TEST_F(RightsTest, RootHasTheUsualOnesWithoutDevices) {
  open_runtime();
  EXPECT_EQ(look(kStatus),
            "Uid 0\nCapInh 0000000000000000\nCapEff 00000000a00425fb\nCapBnd 00000000a00425fb\n"
            "NoNewPrivs 0\nSeccomp 0\n");
}

TEST_F(RightsTest, ARestrictedPodIsRestricted) {
  open_runtime();
  const auto seen = look(
      std::string(kStatus) +
          "; touch /x || echo fixed root; touch /tmp/x || echo fixed tmp; touch " + home_ +
          "/x || echo fixed home; echo ok > /dev/shm/x && cat /dev/shm/x; pwd;"
          "echo done > /dev/termination-log && echo said; echo kept > /volume/kept && echo kept",
      [this](ContainerSpec& spec) {
        std::filesystem::create_directories(home_ + "/volume");
        std::filesystem::permissions(home_ + "/volume", std::filesystem::perms::all);
        spec.uid = spec.gid = 1000;
        spec.capabilities = 0;
        spec.no_new_privileges = spec.read_only_root = true;
        spec.seccomp = ContainerSpec::Seccomp::RuntimeDefault;
        spec.cwd = "/made/for/it";
        spec.mounts.push_back({.source = home_ + "/volume", .target = "/volume"});
      });
  EXPECT_TRUE(
      seen.starts_with("Uid 1000\nCapInh 0000000000000000\nCapEff 0000000000000000\n"
                       "CapBnd 0000000000000000\nNoNewPrivs 1\nSeccomp 2\n"))
      << seen;
  EXPECT_EQ(seen.find("Permission denied"), std::string::npos) << seen;
  for (const char* line :
       {"fixed root\n", "fixed tmp\n", "fixed home\n", "ok\n/made/for/it\nsaid\nkept\n"}) {
    EXPECT_NE(seen.find(line), std::string::npos) << seen;
  }
}

TEST_F(RightsTest, RootOfAReadOnlyRootCannotWriteItEither) {
  open_runtime();
  const auto seen = look(
      "for d in / /tmp /etc /usr/bin " + home_ +
          "; do touch $d/x 2>/dev/null && echo wrote $d;"
          "done; mount -o remount,rw / 2>/dev/null && echo remounted; touch /data/x && echo volume",
      [](ContainerSpec& spec) {
        spec.read_only_root = true;
        spec.mounts.push_back({.kind = Mount::Kind::Tmpfs, .target = "/data"});
      });
  EXPECT_EQ(seen, "volume\n");
}

TEST_F(RightsTest, APrivilegedContainerHasEverything) {
  open_runtime();
  const auto own = std::string(trim(read_text("/proc/self/status")));
  const auto at = own.find("CapBnd:\t") + 8;
  const auto seen = look(std::string(kStatus) +
                             "; test -e /dev/loop-control && echo devices;"
                             "mount -t tmpfs none /mnt && echo mounts; head -c1 "
                             "/proc/timer_list | grep -q . && echo unmasked; touch "
                             "/proc/sys/kernel/core_pattern && echo sysctl",
                         [](ContainerSpec& spec) {
                           spec.privileged = true;
                           spec.seccomp = ContainerSpec::Seccomp::RuntimeDefault;
                         });
  EXPECT_NE(seen.find("CapEff " + own.substr(at, 16)), std::string::npos) << seen;
  EXPECT_TRUE(seen.ends_with("Seccomp 0\ndevices\nmounts\nunmasked\nsysctl\n")) << seen;
}

TEST_F(RightsTest, UnmaskedProcIsAsTheKernelHasIt) {
  open_runtime();
  constexpr const char* kLook = "cat /proc/timer_list | head -c1 | wc -c";
  EXPECT_EQ(look(kLook), "0\n");
  EXPECT_EQ(look(kLook, [](ContainerSpec& spec) { spec.unmasked_proc = true; }), "1\n");
}

TEST_F(RightsTest, AssignedDevicesAreThereAndNoOthers) {
  open_runtime();
  constexpr const char* kLook = "ls /dev | tr '\\n' ' '; stat -c '%a %t:%T' /dev/loop-control";
  const auto seen = look(kLook, [](ContainerSpec& spec) { spec.devices = {"/dev/loop-control"}; });
  EXPECT_NE(seen.find("full loop-control null ptmx pts random shm"), std::string::npos) << seen;
  EXPECT_NE(seen.find(" a:ed\n"), std::string::npos) << seen;
  pod("a");
  for (const char* wrong : {"/etc/passwd", "/dev/no-such-device", "/dev/../dev/null"}) {
    auto spec = container({"true"});
    spec.devices = {wrong};
    const auto refused = run(runtime_->start_container("a", spec));
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->failure, StartFailure::Configuration);
    EXPECT_NE(refused->message.find(wrong), std::string::npos) << refused->message;
  }
  remove("a");
}

TEST_F(RightsTest, DeviceFilesOpenOnlyInDev) {
  open_runtime();
  std::filesystem::create_directories(home_ + "/volume");
  ASSERT_EQ(::mknod((home_ + "/volume/null").c_str(), S_IFCHR | 0666, makedev(1, 3)), 0);
  const auto seen =
      look("echo x > /dev/null && echo dev; echo x > /volume/null || echo refused",
           [this](ContainerSpec& spec) {
             spec.mounts.push_back({.source = home_ + "/volume", .target = "/volume"});
           });
  EXPECT_TRUE(seen.starts_with("dev\n") && seen.ends_with("refused\n")) << seen;
  const auto mounts = look("cut -d' ' -f2,4 /proc/mounts | grep -v nodev");
  EXPECT_EQ(mounts.find("/ "), std::string::npos) << mounts;
  EXPECT_EQ(mounts.find("/tmp"), std::string::npos) << mounts;
}

TEST_F(RightsTest, ThePodHasABoundOnProcesses) {
  open_runtime();
  const auto seen = look("cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null");
  const auto most = parse_int(trim(seen));
  ASSERT_TRUE(most) << seen;
  EXPECT_LE(*most, 32'768);
  EXPECT_GE(*most, 1'024);
}

TEST_F(RightsTest, ContainersOfAPodShareIpcAndItIsNotTheHosts) {
  open_runtime();
  pod("a");
  constexpr const char* kLook = "readlink /proc/self/ns/ipc; readlink /proc/self/ns/cgroup";
  auto first = container({"sh", "-c", kLook});
  auto second = first;
  second.name = "second";
  run_container("a", first);
  run_container("a", second);
  const auto ipc_of = [](const std::string& seen) { return seen.substr(0, seen.find('\n')); };
  EXPECT_EQ(ipc_of(output("a")), ipc_of(output("a", "second")));
  EXPECT_NE(ipc_of(output("a")), std::filesystem::read_symlink("/proc/self/ns/ipc").string());
  EXPECT_EQ(output("a").find(std::filesystem::read_symlink("/proc/self/ns/cgroup").string()),
            std::string::npos);
  remove("a");
  pod("b", {.host_ipc = true});
  run_container("b", first);
  EXPECT_EQ(ipc_of(output("b")), std::filesystem::read_symlink("/proc/self/ns/ipc").string());
  remove("b");
}

TEST_F(RightsTest, SysctlsAreThePodsOwn) {
  open_runtime();
  const auto before = read_text("/proc/sys/kernel/shmmni");
  EXPECT_EQ(
      look("cat /proc/sys/net/ipv4/ip_unprivileged_port_start /proc/sys/kernel/shmmni", {},
           {.sysctls = {{"net.ipv4.ip_unprivileged_port_start", "80"}, {"kernel.shmmni", "17"}}}),
      "80\n17\n");
  EXPECT_EQ(read_text("/proc/sys/kernel/shmmni"), before);
  const auto refused =
      run(runtime_->create_sandbox({.pod_uid = "b",
                                    .pod_namespace = "default",
                                    .pod_name = "b",
                                    .sysctls = {{"net.ipv4.ip_unprivileged_port_start", "many"}}},
                                   {}));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("sysctl net.ipv4.ip_unprivileged_port_start = many"),
            std::string::npos)
      << refused.error().message;
  remove("b");
}

TEST(Sysctls, AreThoseOfThePodsNamespaces) {
  const SandboxSpec own;
  const auto file = [&](std::string_view name, const SandboxSpec& pod) {
    return shim::sysctl_file(name, pod).value_or("refused");
  };
  EXPECT_EQ(file("net.core.somaxconn", own), "/proc/sys/net/core/somaxconn");
  EXPECT_EQ(file("net/ipv4/conf/eth0.1/forwarding", own),
            "/proc/sys/net/ipv4/conf/eth0.1/forwarding");
  EXPECT_EQ(file("net.ipv4.conf.eth0/1.forwarding", own),
            "/proc/sys/net/ipv4/conf/eth0.1/forwarding");
  EXPECT_EQ(file("kernel.msgmax", own), "/proc/sys/kernel/msgmax");
  EXPECT_EQ(file("kernel.sem", own), "/proc/sys/kernel/sem");
  EXPECT_EQ(file("fs.mqueue.msg_max", own), "/proc/sys/fs/mqueue/msg_max");
  for (const char* name : {"kernel.core_pattern", "vm.swappiness", "kernel.shm_", "fs.file-max",
                           "net/../kernel/core_pattern", "net", "", "kernel.hostname"}) {
    EXPECT_EQ(file(name, own), "refused") << name;
  }
  EXPECT_EQ(file("net.core.somaxconn", {.host_network = true}), "refused");
  EXPECT_EQ(file("kernel.sem", {.host_ipc = true}), "refused");
}

}  // namespace
}  // namespace muster::node
