// What MPI jobs of all kinds share: keys and their modes, names, slots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialects/mpi/pods.h"
#include "dialects/mpi/setup.h"
#include "support.h"

namespace muster::dialects::test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

mpi::Setup setup() {
  return {.job = {.name = "j", .uid = "7d7b0f3e-0001"},
          .service = "j-mpi",
          .agent_image = "example.org/agent:1"};
}

TEST(MpiKey, ItsNameCarriesTheWholeUidHoweverLongTheJobsNameIs) {
  mpi::Setup long_one = setup();
  EXPECT_EQ(mpi::make_key(long_one).id.name, "j-mpi-7d7b0f3e-0001");
  long_one.job.name = std::string(234, 'a') + ".b";
  const std::string name = mpi::make_key(long_one).id.name;
  EXPECT_EQ(name, std::string(234, 'a') + "-mpi-7d7b0f3e-0001") << "no dot before the rest";
  long_one.sshd.emplace();
  EXPECT_EQ(mpi::make_key(long_one).source, plan::Source::SshKeys);
}

struct ModeCase {
  std::string name;
  std::string spec;  // of the pod
  int mode;
};

TEST(MpiKey, IsForItsOwnerUnlessSomebodyElseHasToReadIt) {
  const std::vector<ModeCase> cases = {
      {"root", "containers: [{name: m}]", 0400},
      {"root by number", "{securityContext: {runAsUser: 0}, containers: [{name: m}]}", 0400},
      {"a user", "{securityContext: {runAsUser: 7}, containers: [{name: m}]}", 0444},
      {"a user of one", "containers: [{name: m, securityContext: {runAsUser: 7}}]", 0444},
      {"not root", "{securityContext: {runAsNonRoot: true}, containers: [{name: m}]}", 0444},
      {"root in its container",
       "{securityContext: {runAsUser: 7}, containers: [{name: m, securityContext: {runAsUser: "
       "0}}]}",
       0400},
  };
  for (const ModeCase& c : cases) {
    SCOPED_TRACE(c.name);
    json::Value pod = json::Object{};
    pod["spec"] = parse(c.spec);
    PodEditor edited(std::move(pod));
    mpi::make_launcher(setup(), 0, edited);
    EXPECT_EQ(edited.pod()["spec"]["volumes"][0]["secret"]["defaultMode"].as_int(), c.mode);
  }
}

TEST(MpiCommand, AWorkersOwnRunsUnderTheAgent) {
  std::vector<plan::Warning> warnings;
  PodEditor pod(
      parse("spec: {containers: [{name: m, command: [a], args: [b]}, {name: n}, "
            "{name: o, args: [c]}]}"));
  for (std::size_t i = 0; i < 3; ++i) mpi::wrap_command(setup(), i, "spec.x", pod, warnings);
  EXPECT_EQ(pod.pod()["spec"]["containers"], parse(R"(
- {name: m, command: [/muster/bin/muster-agent, run, --, a], args: [b]}
- {name: n, command: [/muster/bin/muster-agent, run]}
- {name: o, command: [/muster/bin/muster-agent, run]}
)"));
  ASSERT_THAT(warnings, SizeIs(1)) << "arguments of a command that we do not know";
  EXPECT_THAT(warnings[0].message, testing::StartsWith("spec.x: args of the container o"));
}

TEST(MpiCommand, LaunchWaitsForTheHosts) {
  EXPECT_THAT(
      mpi::launch_command("/h", {"mpirun", "p"}),
      ElementsAre("/muster/bin/muster-agent", "launch", "--hostfile", "/h", "--", "mpirun", "p"));
}

TEST(MpiHosts, WithSshTheNameLeadsThere) {
  mpi::Setup by_ssh = setup();
  EXPECT_EQ(mpi::host_line(by_ssh, "w-0", 2), "w-0 slots=2");
  by_ssh.sshd.emplace();
  EXPECT_EQ(mpi::host_line(by_ssh, "w-0", 2), "w-0.j-mpi slots=2");
}

}  // namespace
}  // namespace muster::dialects::test
