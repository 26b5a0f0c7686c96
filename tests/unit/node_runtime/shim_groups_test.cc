#include "node/linux/shim_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::node::linux {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> left(std::string_view groups, std::string_view mounts) {
  std::vector<std::string> out;
  for (const auto& place : groups_to_leave(groups, mounts)) {
    const bool v2 = place.version == GroupPlace::Version::V2;
    out.push_back((v2 ? "v2 " : "v1 ") + place.mount + " " + place.path);
  }
  return out;
}

constexpr std::string_view kHybrid =
    "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n"
    "cgroup /sys/fs/cgroup/systemd cgroup rw,relatime,name=systemd 0 0\n"
    "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n"
    "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n"
    "cgroup /sys/fs/cgroup/pids cgroup rw,relatime,pids 0 0\n"
    "cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0\n"
    "cgroup /sys/fs/cgroup/devices cgroup rw,relatime,devices 0 0\n";

TEST(ShimGroups, LeaveWhereTheServiceHasAGroupOfItsOwn) {
  EXPECT_THAT(left("0::/system.slice/muster.service\n",
                   "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n"),
              ElementsAre("v2 /sys/fs/cgroup /system.slice/muster.service"));
  EXPECT_THAT(left("9:name=systemd:/system.slice/muster.service\n"
                   "8:pids:/system.slice/muster.service\n"
                   "4:memory:/\n"
                   "1:cpu,cpuacct:/system.slice/muster.service\n"
                   "0::/system.slice/muster.service\n",
                   kHybrid),
              ElementsAre("v1 /sys/fs/cgroup/systemd /system.slice/muster.service",
                          "v1 /sys/fs/cgroup/pids /system.slice/muster.service",
                          "v1 /sys/fs/cgroup/cpu,cpuacct /system.slice/muster.service",
                          "v2 /sys/fs/cgroup/unified /system.slice/muster.service"));
}

TEST(ShimGroups, StayWhereAGroupSaysWhatAProcessMayUse) {
  EXPECT_THAT(left("3:cpuset:/service\n5:devices:/service\n", kHybrid), ElementsAre());
}

TEST(ShimGroups, NothingIsLeftWhatIsNotMountedOrNotUnderstood) {
  EXPECT_THAT(left("9:name=other:/service\n6:freezer:/service\n", kHybrid), ElementsAre());
  EXPECT_THAT(left("", ""), ElementsAre());
  EXPECT_THAT(left(":\n::\nnonsense\n1:memory\n", "cgroup\n"), ElementsAre());
}

}  // namespace
}  // namespace muster::node::linux
