// T9k's MPIJobs as they live: their plans in the engine, and what status and events say of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/write.h"
#include "life.h"
#include "t9k_support.h"

namespace muster::dialects::test {
namespace {

using api::PodPhase;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

const auto kAll = ElementsAre("j-launcher", "j-worker-0", "j-worker-1");

json::Value paused(bool enabled, std::string_view more = "") {
  return mpi_job(
      fmt::format("{{runMode: {{pause: {{enabled: {}, resumeSpecs: [{{type: worker, "
                  "skipInitContainer: true}}]}}}}, runPolicy: {{cleanUpWorkers: true}}{}}}",
                  enabled, more));
}

json::Value aggregate(const char* counts) {
  json::Value out = parse(
      "{creating: 0, pending: 0, running: 0, succeeded: 0, failed: 0, unknown: 0, deleted: 0}");
  const json::Value given = parse(counts);
  for (const auto& [name, count] : given.as_object()) out[name] = count;
  return out;
}

TEST(T9kLife, FromPendingOverRunningToSucceeded) {
  Life life(mpi_job("runPolicy: {cleanUpWorkers: true}"));
  life.look();
  EXPECT_EQ(life.phase(), "Pending");
  EXPECT_EQ(life.status()["aggregate"], aggregate("{creating: 3}"));
  EXPECT_EQ(life.condition("Initialized"), "");
  life.settle();
  EXPECT_THAT(life.pods(), kAll);
  EXPECT_THAT(life.objects(), ElementsAre("ConfigMap j-hostfile", "Service j-worker"));
  EXPECT_EQ(life.phase(), "Pending");
  EXPECT_EQ(life.status()["aggregate"], aggregate("{pending: 3}"));
  EXPECT_EQ(life.condition("Initialized"), "True, -, The job has been initialized successfully.");
  EXPECT_EQ(life.condition("ReplicaFailure"), "False, -, All pods are running normally.");
  life.all_run();
  life.look();
  EXPECT_EQ(life.phase(), "Running");
  EXPECT_EQ(life.condition("Running"), "True, -, All pods are running normally.");
  EXPECT_EQ(life.status()["aggregate"], aggregate("{running: 3}"));
  life.put("j-launcher", PodPhase::Succeeded);
  life.look();
  EXPECT_EQ(life.phase(), "Succeeded");
  EXPECT_EQ(life.condition("Running"), "False, Succeeded, The job has finished successfully.");
  EXPECT_EQ(life.condition("ReplicaFailure"),
            "False, Finished, The job has finished successfully.");
  EXPECT_EQ(life.condition("Completed"), "True, Succeeded, The job has finished successfully.");
  EXPECT_EQ(life.condition("Failed"), "False, Succeeded, The job has finished successfully.");
  life.look();
  EXPECT_THAT(life.pods(), ElementsAre("j-launcher")) << "for its log";
  EXPECT_EQ(life.status()["aggregate"], aggregate("{succeeded: 1, deleted: 2}"));
  EXPECT_EQ(life.status()["tasks"][1]["replicas"][0]["phase"].as_string(), "Deleted");
  EXPECT_THAT(life.events(), Contains("Created: A MPIJob has been created: j"));
  EXPECT_THAT(life.events(), Contains("Completed: The job has finished successfully."));
}

TEST(T9kLife, WorkersStayUnlessTheyAreToBeCleanedUp) {
  Life life(mpi_job());
  life.settle();
  life.all_run();
  life.look();
  life.put("j-launcher", PodPhase::Succeeded);
  life.settle();
  EXPECT_THAT(life.pods(), kAll);
  EXPECT_THAT(life.objects(), ElementsAre("ConfigMap j-hostfile", "Service j-worker"));
  EXPECT_EQ(life.status()["aggregate"], aggregate("{succeeded: 1, running: 2}"));
}

TEST(T9kLife, ALauncherThatFailsEndsTheJob) {
  Life life(mpi_job());
  life.settle();
  life.all_run();
  life.look();
  life.put("j-launcher", PodPhase::Failed);
  life.look();
  EXPECT_EQ(life.phase(), "Failed");
  EXPECT_EQ(life.condition("Failed"), "True, Failed, The job exited with an error code.");
  EXPECT_EQ(life.condition("Running"), "False, Failed, The job exited with an error code.");
  EXPECT_EQ(life.condition("ReplicaFailure"),
            "True, ErrorInPod, Pod[j-launcher] exited with error code 3");
  EXPECT_EQ(life.status()["tasks"][0]["replicas"][0]["containers"],
            parse("[{name: launcher, state: Terminated, exitCode: 3}]"));
  EXPECT_THAT(life.events(), Contains("ErrorInPod: Pod[j-launcher] exited with error code 3"));
  EXPECT_THAT(life.events(), Contains("Failed: The job exited with an error code."));
}

TEST(T9kLife, WhatTheAgentSaysOfTheEndIsInTheCondition) {
  Life life(mpi_job());
  life.settle();
  life.all_run();
  life.look();
  life.put("j-launcher", PodPhase::Succeeded);
  life.leave_message("j-launcher", "muster: j-worker-1 ran no rank");
  life.look();
  EXPECT_EQ(life.condition("Completed"),
            "True, Succeeded, The job has finished successfully. j-worker-1 ran no rank");
}

TEST(T9kLife, AWorkerOfTheListLayoutIsMadeAnewAsOftenAsItMay) {
  Life life(mpi_job(
      "{mpiConfig: {script: [./walk]}, replicaSpecs: [{type: worker, replicas: 2, restartPolicy: "
      "{policy: OnFailure, limit: 1}, template: {spec: {containers: [{name: worker, image: "
      "i}]}}}]}"));
  life.settle();
  life.all_run();
  life.look();
  life.put("j-worker-1", PodPhase::Failed);
  life.look();
  EXPECT_EQ(life.phase(), "Running");
  EXPECT_EQ(life.condition("ReplicaFailure"),
            "True, ErrorInPod, Pod[j-worker-1] exited with error code 3");
  EXPECT_EQ(life.status()["tasks"][1]["restartCount"].as_int(), 1);
  life.settle();
  EXPECT_THAT(life.pods(), kAll);
  life.all_run();
  life.settle();
  EXPECT_EQ(life.condition("ReplicaFailure"), "False, -, All pods are running normally.");
  life.put("j-worker-0", PodPhase::Failed);
  life.look();
  EXPECT_EQ(life.phase(), "Failed") << "all of them together";
}

TEST(T9kLife, PausedAndResumedItBeginsAnew) {
  Life life(paused(false, ", scheduler: {t9kScheduler: {queue: q}}"));
  life.settle();
  life.all_run();
  life.look();
  EXPECT_EQ(life.made("j-worker-0")["spec"]["initContainers"].as_array().size(), 2U);
  life.edit(paused(true, ", scheduler: {t9kScheduler: {queue: q}}"));
  life.settle();
  EXPECT_EQ(life.phase(), "Paused");
  EXPECT_THAT(life.pods(), IsEmpty());
  EXPECT_THAT(life.objects(), ElementsAre("ConfigMap j-hostfile", "Service j-worker"))
      << "the PodGroup goes";
  EXPECT_EQ(life.status()["aggregate"], aggregate("{deleted: 3}"));
  EXPECT_THAT(life.condition("Paused"), testing::StartsWith("True, Paused, "));
  EXPECT_THAT(life.condition("Running"), testing::StartsWith("False, Paused, "));
  life.settle();
  EXPECT_THAT(life.pods(), IsEmpty()) << "nothing starts by itself";

  life.edit(paused(false, ", scheduler: {t9kScheduler: {queue: q}}"));
  life.look();
  EXPECT_EQ(life.phase(), "Resuming");
  EXPECT_THAT(life.condition("Paused"), testing::StartsWith("False, Resumed, "));
  life.settle();
  EXPECT_EQ(life.phase(), "Resuming");
  EXPECT_THAT(life.objects(), Contains("PodGroup j"));
  EXPECT_EQ(life.made("j-worker-0")["spec"]["initContainers"].as_array().size(), 1U)
      << "as resumeSpecs say";
  life.all_run();
  life.look();
  EXPECT_EQ(life.phase(), "Running");
  EXPECT_EQ(life.condition("Running"), "True, -, All pods are running normally.");
  life.put("j-launcher", PodPhase::Succeeded);
  life.settle();
  EXPECT_EQ(life.phase(), "Succeeded");
  EXPECT_THAT(life.objects(), Not(Contains("PodGroup j")));
  EXPECT_THAT(life.events(), Contains("Paused: The job is paused."));
  EXPECT_THAT(life.events(), Contains(testing::StartsWith("Resumed: ")));
}

TEST(T9kLife, PausedFromTheStartNothingIsMade) {
  Life life(paused(true));
  life.settle();
  EXPECT_EQ(life.phase(), "Paused");
  EXPECT_THAT(life.pods(), IsEmpty());
  EXPECT_THAT(life.objects(), IsEmpty());
  life.edit(paused(false));
  life.settle();
  EXPECT_EQ(life.phase(), "Resuming");
  EXPECT_THAT(life.pods(), kAll);
}

TEST(T9kLife, TheLedgerKnowsWhatMayNotChange) {
  const auto changed = [](Life& life, const json::Value& job) {
    return life.observed().ledger.changed(mpi_plan(job));
  };
  Life life(paused(true));
  life.look();
  EXPECT_EQ(changed(life, paused(false)), "");
  EXPECT_EQ(changed(life, mpi_job()), "spec.runMode.pause.resumeSpecs");
  const auto debug = mpi_job("runMode: {debug: {enabled: true}}");
  Life debugged(debug);
  debugged.look();
  EXPECT_EQ(changed(debugged, mpi_job()), "");
  debugged.edit(mpi_job());
  debugged.look();
  EXPECT_EQ(changed(debugged, debug), "spec.runMode.debug.enabled");
  const auto& ledger = debugged.observed().ledger;
  EXPECT_EQ(plan::Ledger::from_json(ledger.to_json()).fixed, ledger.fixed);
}

TEST(T9kLife, WhoeverIsDebuggedRunsUntilDebuggingEnds) {
  const auto debug = mpi_job("runMode: {debug: {enabled: true}}");
  Life life(debug);
  life.settle();
  EXPECT_THAT(command_of(life.made("j-launcher")), ElementsAre("sleep", "inf"));
  life.all_run();
  life.look();
  EXPECT_EQ(life.phase(), "Running");
  life.put("j-launcher", PodPhase::Succeeded);
  life.settle();
  EXPECT_EQ(life.phase(), "Running");
  life.put("j-launcher", PodPhase::Failed);
  life.settle();
  EXPECT_EQ(life.phase(), "Running") << "no end of a debugged pod is the job's";
  life.edit(mpi_job("runMode: {debug: {enabled: false}}"));
  life.look();
  EXPECT_EQ(life.phase(), "Pending");
  EXPECT_THAT(life.pods(), IsEmpty()) << "all are made anew";
  life.settle();
  EXPECT_THAT(command_of(life.made("j-launcher")), Contains("mpirun"));
  EXPECT_THAT(life.condition("Running"), testing::StartsWith("False, "));
  life.all_run();
  life.look();
  life.put("j-launcher", PodPhase::Succeeded);
  life.look();
  EXPECT_EQ(life.phase(), "Succeeded");
}

TEST(T9kLife, AnotherNumberOfWorkersIsAnotherRun) {
  Life life(mpi_job());
  life.settle();
  life.all_run();
  life.look();
  life.edit(mpi_job("worker: {replicas: 3}"));
  life.look();
  EXPECT_THAT(life.pods(), IsEmpty());
  life.settle();
  EXPECT_THAT(life.pods(), ElementsAre("j-launcher", "j-worker-0", "j-worker-1", "j-worker-2"));
}

TEST(T9kLife, ALauncherWhoseNodeIsSilentIsUnknown) {
  Life life(mpi_job());
  life.settle();
  life.all_run();
  life.look();
  life.put("j-launcher", PodPhase::Unknown);
  life.look();
  EXPECT_EQ(life.phase(), "Unknown");
  life.all_run();
  life.look();
  EXPECT_EQ(life.phase(), "Running");
}

// The samples of T9k's document: conditions of a job that failed, pods by role, and numbers of
// pods.
TEST(T9kLife, TheStatusHasTheFieldsOfTheDocumentsSamples) {
  Life life(mpi_job());
  life.settle();
  life.all_run();
  life.look();
  EXPECT_EQ(life.status()["tasks"],
            parse("[{type: launcher, restartCount: 0, status: [{phase: Running, name: j-launcher, "
                  "uid: uid-1, containers: &l [{name: launcher, state: Running}]}], replicas: "
                  "[{phase: Running, name: j-launcher, uid: uid-1, containers: *l}]}, "
                  "{type: worker, restartCount: 0, status: &w [{phase: Running, name: j-worker-0, "
                  "uid: uid-2, containers: &c [{name: mpi-worker, state: Running}]}, {phase: "
                  "Running, name: j-worker-1, uid: uid-3, containers: *c}], replicas: *w}]"));
  life.put("j-worker-1", PodPhase::Pending);
  life.look();
  EXPECT_EQ(life.status()["aggregate"],
            parse("{creating: 0, deleted: 0, failed: 0, pending: 1, running: 2, succeeded: 0, "
                  "unknown: 0}"));
  life.put("j-launcher", PodPhase::Failed);
  life.look();
  std::vector<std::string> types;
  for (const auto& condition : life.status()["conditions"].as_array()) {
    types.push_back(condition["type"].as_string());
    for (const char* field : {"status", "message", "reason", "lastTransitionTime"}) {
      EXPECT_FALSE(condition[field].as_string().empty()) << field;
    }
  }
  EXPECT_THAT(types, testing::UnorderedElementsAre("Initialized", "Running", "ReplicaFailure",
                                                   "Completed", "Failed"));
}

TEST(T9kLife, TheStatusOfALargeJobFitsAnObject) {
  Life life(mpi_job("worker: {replicas: 9999}"));
  life.settle();
  EXPECT_LT(json::write(life.status()).size(), 300U << 10U);
  EXPECT_EQ(life.status()["aggregate"]["pending"].as_int(), 10'000);
}

TEST(T9kLife, APhaseOfTheStatusIsOneThatAllKindsShare) {
  using plan::Phase;
  const auto phase = [](const char* text) { return t9k_mpijob().phase_of(parse(text)).phase; };
  EXPECT_EQ(phase("{}"), Phase::Created);
  EXPECT_EQ(phase("{phase: Pending}"), Phase::Created);
  EXPECT_EQ(phase("{phase: Resuming}"), Phase::Created);
  EXPECT_EQ(phase("{phase: Running}"), Phase::Running);
  EXPECT_EQ(phase("{phase: Paused}"), Phase::Suspended);
  EXPECT_EQ(phase("{phase: Succeeded}"), Phase::Succeeded);
  EXPECT_EQ(phase("{phase: Failed}"), Phase::Failed);
}

}  // namespace
}  // namespace muster::dialects::test
