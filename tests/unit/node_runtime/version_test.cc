#include <cstring>
#include <filesystem>

#include "machine.h"
#include "node/linux/cgroup.h"
#include "node/shim/protocol.h"
#include "node/shim/rights/capabilities.h"

// What records and requests hold, in the words of each version.
namespace muster::node {
namespace {

template <class T>
std::string version_0(const T& value) {
  shim::Writer out(0);
  write(out, value);
  return out.bytes();
}

TEST(Versions, RecordsSayWhoWroteThem) {
  const ContainerExit exit{.exit_code = 3, .termination_message = "gone"};
  const auto record = shim::encode(exit);
  std::string_view rest = record;
  EXPECT_EQ(shim::take_version(rest), shim::kWireVersion);
  EXPECT_EQ(rest, version_0(exit));
  EXPECT_EQ(shim::decode<ContainerExit>(record)->exit_code, 3);
  EXPECT_EQ(shim::decode<ContainerExit>(version_0(exit))->termination_message, "gone");
  const auto later = shim::decode<ContainerExit>(shim::with_version(version_0(exit), 3));
  EXPECT_EQ(later.error().message, "it has version 3, this program knows those up to 2");
}

// The bytes of version 0 as they lie on disks, written down here without the code that writes them.
std::string number_0(std::int64_t value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}
std::string text_0(const std::string& value) {
  return number_0(static_cast<std::int64_t>(value.size())) + value;
}

TEST(Versions, TheRecordsOfVersion0AreReadForEver) {
  const auto nothing = number_0(0) + number_0(0);
  const auto sandbox = text_0("uid") + text_0("default") + text_0("pod-a") + text_0("host") +
                       number_0(0) + text_0("shm") + text_0("/hosts") + number_0(1) +
                       number_0(1500) + nothing + nothing + text_0("10.222.0.9") +
                       text_0("10.222.0.1") + number_0(22) + text_0("bridge") + text_0("link") +
                       text_0("10.96.0.0/16") + number_0(1) + text_0("/memory") + text_0("/cpu") +
                       text_0("/logs") + number_0(64) + text_0("/pods") + text_0("/dev/shm/x");
  const auto record = shim::decode<shim::SandboxRecord>(sandbox);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->spec.pod_uid, "uid");
  EXPECT_EQ(record->spec.limits.cpu_milli, 1500);
  EXPECT_EQ(record->address, "10.222.0.9");
  EXPECT_EQ(record->cgroups.version, linux::CgroupRoots::Version::V1);
  EXPECT_EQ(record->shm_directory, "/dev/shm/x");

  const auto shim = number_0(4711) + number_0(99) + text_0("boot");
  EXPECT_EQ(shim::decode<linux::ProcessIdentity>(shim)->pid, 4711);
  const auto started = shim::decode<shim::StartRecord>(shim + number_0(5));
  EXPECT_EQ(started->started, Time(std::chrono::nanoseconds(5)));
  const auto exit = number_0(137) + number_0(9) + number_0(1) + number_0(0) + number_0(5) +
                    number_0(6) + text_0("gone");
  EXPECT_TRUE(shim::decode<ContainerExit>(exit)->oom_killed);
  EXPECT_EQ(shim::decode<ContainerExit>(exit)->termination_message, "gone");
  const auto failed = shim::decode<shim::FailureRecord>(number_0(1) + text_0("no x bit"));
  EXPECT_EQ(failed->failure, StartFailure::NotExecutable);
}

// What a Muster of version 1 sent and its shim kept for a container, byte by byte.
std::string container_1() {
  const auto nothing = number_0(0) + number_0(0);
  return text_0("main") + number_0(2) + number_0(1) + text_0("true") + number_0(1) +
         text_0("NAME") + text_0("value") + text_0("/") + number_0(0) + text_0("") + number_0(1) +
         number_0(0) + text_0("/data") + text_0("/in") + number_0(1) + number_0(0) + nothing +
         nothing + nothing + text_0("/dev/termination-log") + number_0(1) + number_0(7) + nothing +
         number_0(1) + number_0(8) + number_0(1);
}

ContainerSpec container_of_version_1() {
  return {.name = "main",
          .attempt = 2,
          .argv = {"true"},
          .env = {{"NAME", "value"}},
          .mounts = {{.source = "/data", .target = "/in", .read_only = true}},
          .uid = 7,
          .supplementary_groups = {8},
          .no_new_privileges = true};
}

TEST(Versions, AShimOfVersion1IsAskedInItsOwnWords) {
  auto spec = container_of_version_1();
  spec.devices = {"/dev/nvidia0"};
  shim::Writer asked(1);
  write(asked, spec);
  EXPECT_EQ(asked.bytes(), container_1());
  const auto kept = shim::decode<ContainerSpec>(shim::with_version(container_1(), 1));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->mounts.front().target, "/in");
  EXPECT_EQ(kept->uid, 7U);
  EXPECT_FALSE(kept->privileged);
}

TEST(Versions, WhatAContainerMayDoIsKept) {
  auto spec = container_of_version_1();
  spec.capabilities = std::uint64_t{1} << 63U;
  spec.privileged = spec.read_only_root = spec.unmasked_proc = true;
  spec.seccomp = ContainerSpec::Seccomp::RuntimeDefault;
  spec.devices = {"/dev/nvidia0", "/dev/nvidiactl"};
  const auto read = shim::decode<ContainerSpec>(shim::encode(spec));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->capabilities, spec.capabilities);
  EXPECT_TRUE(read->privileged && read->read_only_root && read->unmasked_proc);
  EXPECT_EQ(read->seccomp, spec.seccomp);
  EXPECT_EQ(read->devices, spec.devices);
  shim::SandboxRecord record;
  record.spec.host_ipc = true;
  record.spec.sysctls = {{"net.core.somaxconn", "1"}};
  record.cgroups.pids = "/pids";
  const auto sandbox = shim::decode<shim::SandboxRecord>(shim::encode(record));
  ASSERT_TRUE(sandbox) << sandbox.error().message;
  EXPECT_TRUE(sandbox->spec.host_ipc);
  EXPECT_EQ(sandbox->spec.sysctls, record.spec.sysctls);
  EXPECT_EQ(sandbox->cgroups.pids, "/pids");
}

TEST(Versions, WhatAnOlderShimCannotObeyIsNamed) {
  auto spec = container_of_version_1();
  spec.capabilities = kUsualRights;
  EXPECT_EQ(shim::beyond_version(spec, 1), "");
  spec.read_only_root = true;
  EXPECT_EQ(shim::beyond_version(spec, 1), "securityContext.readOnlyRootFilesystem");
  EXPECT_EQ(shim::beyond_version(spec, 2), "");
  spec.capabilities = 0;
  EXPECT_EQ(shim::beyond_version(spec, 0), "securityContext.capabilities");
}

// A Muster that knows fewer places of a pod's groups leaves some when it removes a pod of ours.
TEST_F(RuntimeTest, GroupsThatAnotherVersionLeftGoWithTheHome) {
  open_runtime();
  const auto roots = linux::find_cgroups(home_key(home_));
  std::vector<std::string> places{roots.memory, roots.pids};
  std::erase(places, "");
  for (const auto& place : places) std::filesystem::create_directories(place + "/uid/main-0");
  close_runtime();
  for (const auto& place : places) EXPECT_FALSE(std::filesystem::exists(place)) << place;
}

TEST_F(RuntimeTest, NoEnvironmentValueIsInAnyFile) {
  open_runtime();
  pod("a");
  auto spec = container({"sh", "-c", "exit ${#1}", "sh", "s3cret"});
  spec.env.emplace_back("PASSWORD", "s3cret");
  EXPECT_EQ(run_container("a", spec).exit_code, 6);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home_)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(read_text(entry.path()).find("s3cret"), std::string::npos) << entry.path();
  }
  remove("a");
}

}  // namespace
}  // namespace muster::node
