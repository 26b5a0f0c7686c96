// What T9k's documents say in two ways, each by its number: T9-1, T9-8 and T9-11 are about
// sentences and samples alone and listed in docs/kinds/t9k-mpijob.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "life.h"
#include "t9k_support.h"

namespace muster::dialects::test {
namespace {

using api::PodPhase;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

Life running(const json::Value& job) {
  Life life(job);
  life.settle();
  life.all_run();
  life.look();
  return life;
}

TEST(T9kQuirks, T9_2_TheFirstConditionIsInitialized) {
  const Life life = running(mpi_job());
  EXPECT_THAT(life.condition("Initialized"), testing::StartsWith("True, "));
  EXPECT_EQ(life.condition("Initializing"), "");
}

TEST(T9kQuirks, T9_3_CompletedMeansEndedAlsoWhenItFailed) {
  Life life = running(mpi_job());
  EXPECT_EQ(life.condition("Completed"), "");
  life.put("j-launcher", PodPhase::Failed);
  life.look();
  EXPECT_EQ(life.condition("Completed"), "True, Failed, The job exited with an error code.");
  EXPECT_EQ(life.condition("Failed"), "True, Failed, The job exited with an error code.");
  EXPECT_EQ(life.phase(), "Failed");
}

TEST(T9kQuirks, T9_4_PodsAreListedUnderBothNames) {
  const Life life = running(mpi_job());
  const json::Value& worker = life.status()["tasks"][1];
  EXPECT_EQ(worker["replicas"].as_array().size(), 2U);
  EXPECT_EQ(worker["status"], worker["replicas"]);
}

TEST(T9kQuirks, T9_5_ADebuggedWorkerWaitsWithTheSshdOfTheJob) {
  const auto command = [](const char* spec) {
    return command_of(mpi_plan(mpi_job(spec)).role("worker")->pod);
  };
  EXPECT_THAT(command("{runMode: {debug: {enabled: true}}, ssh: {sshdPath: /opt/sshd, "
                      "sshAuthMountPath: /root/.ssh}}"),
              ElementsAre("/muster/bin/muster-agent", "sshd", "--sshd", "/opt/sshd", "--auth",
                          "/root/.ssh"));
  // Without sshd, whoever asks a worker to run one asks it to wait for the launcher.
  for (const char* sshd : {"/usr/bin/sshd", "/usr/sbin/sshd", "sshd"}) {
    EXPECT_THAT(command(fmt::format("runMode: {{debug: {{enabled: true, replicaSpecs: [{{type: "
                                    "worker, command: [{}, -D]}}]}}}}",
                                    sshd)
                            .c_str()),
                ElementsAre("/muster/bin/muster-agent", "run"));
  }
}

TEST(T9kQuirks, T9_6_WithoutACommandAResumedPodRunsWhatItRanBefore) {
  const auto plan = mpi_plan(
      mpi_job("runMode: {pause: {resumeSpecs: [{type: launcher, skipInitContainer: true}]}}"));
  const plan::Role& launcher = *plan.role("launcher");
  EXPECT_EQ(command_of(*launcher.pod_resumed), command_of(launcher.pod));
}

TEST(T9kQuirks, T9_7_TheExitCodeOfMpirunDecides) {
  Life bad = running(mpi_job());
  bad.put("j-launcher", PodPhase::Failed);
  bad.look();
  EXPECT_EQ(bad.phase(), "Failed");
  Life good = running(mpi_job());
  good.put("j-launcher", PodPhase::Succeeded);
  good.leave_message("j-launcher", "muster: 2 ranks failed");
  good.look();
  EXPECT_EQ(good.phase(), "Succeeded");
  EXPECT_THAT(good.condition("Completed"), testing::EndsWith("2 ranks failed"));
}

TEST(T9kQuirks, T9_9_EnableIsEnabledAndGivesWayToIt) {
  EXPECT_TRUE(mpi_plan(mpi_job("runMode: {pause: {enable: true}}")).hold);
  EXPECT_FALSE(mpi_plan(mpi_job("runMode: {pause: {enable: true, enabled: false}}")).hold);
  EXPECT_THAT(mpi_plan(mpi_job("runMode: {debug: {enable: true}}")).success, IsEmpty());
  EXPECT_THAT(mpi_plan(mpi_job("runMode: {debug: {enable: true, enabled: false}}")).success,
              Not(IsEmpty()));
}

TEST(T9kQuirks, T9_10_AuthMountPathIsSshAuthMountPath) {
  const auto one = mpi_plan(mpi_job("ssh: {authMountPath: /keys}"));
  const auto other = mpi_plan(mpi_job("ssh: {sshAuthMountPath: /keys}"));
  EXPECT_EQ(one.role("worker")->pod, other.role("worker")->pod);
  EXPECT_EQ(one.objects[0].source, plan::Source::SshKeys);
}

TEST(T9kQuirks, T9_12_PodNamesHaveNoHash) {
  const Life life = running(mpi_job());
  EXPECT_THAT(life.pods(), ElementsAre("j-launcher", "j-worker-0", "j-worker-1"));
}

TEST(T9kQuirks, T9_13_McaBesideTheListLayoutIsRefused) {
  auto job = mpi_job(
      "{mpiConfig: {script: [./walk]}, mca: {pml: ob1}, replicaSpecs: [{type: worker, template: "
      "{spec: {containers: [{name: worker, image: i}]}}}]}");
  EXPECT_THAT(mistakes(job), ElementsAre("spec.mca (one-layout)"));
  job["spec"]["mpiConfig"]["mca"] = job["spec"]["mca"];
  job["spec"].object().erase("mca");
  EXPECT_THAT(mistakes(job), IsEmpty());
}

TEST(T9kQuirks, T9_14_ErrorIsNoPhase) {
  std::set<std::string> seen;
  const auto note = [&](Life& life) { seen.insert(life.phase()); };
  Life life(mpi_job());
  life.look();
  note(life);
  life.settle();
  life.all_run();
  life.look();
  note(life);
  life.put("j-launcher", PodPhase::Unknown);
  life.look();
  note(life);
  life.edit(mpi_job("runMode: {pause: {enabled: true}}"));
  life.settle();
  note(life);
  life.edit(mpi_job());
  life.settle();
  note(life);
  life.put("j-launcher", PodPhase::Failed);
  life.look();
  note(life);
  Life good = running(mpi_job());
  good.put("j-launcher", PodPhase::Succeeded);
  good.look();
  note(good);
  EXPECT_THAT(seen, ElementsAre("Failed", "Paused", "Pending", "Resuming", "Running", "Succeeded",
                                "Unknown"));
}

TEST(T9kQuirks, T9_15_TheContainerNeedsTheNameThatTheDocumentsAskFor) {
  auto job = mpi_job();
  json::Value& main = job["spec"]["worker"]["template"]["spec"]["containers"].array()[0];
  main["name"] = "worker";
  EXPECT_THAT(mistakes(job), IsEmpty()) << "the name in the other layout";
  main.object().erase("name");
  EXPECT_THAT(mistakes(job), Not(IsEmpty()));
  main["name"] = "main";
  EXPECT_THAT(mistakes(job), ElementsAre("spec.worker.template.spec.containers (main-container)"));
}

}  // namespace
}  // namespace muster::dialects::test
