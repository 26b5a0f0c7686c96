// T9k's MPIJob: how its plans come from its fields, and what is decided where its documents are
// silent. Its children are in tests/cases/t9k_mpijob; its life in t9k_mpijob_life_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "plan_text.h"
#include "support.h"
#include "t9k_support.h"

namespace muster::dialects::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::Not;

const json::Value& main_container(const plan::Role& role) {
  return role.pod["spec"]["containers"][0];
}

const json::Value& host_file(const plan::Plan& plan) {
  return plan.objects[1].body["data"]["hostfile"];
}

TEST(T9kMpiJob, ThreeLayoutsGiveEqualPlans) {
  const char* pods =
      "{spec: {containers: [{name: mpi-worker, image: 'example.org/mpi:1', workingDir: /code, env: "
      "[{name: A, value: b}]}]}}";
  const auto job = [&](const std::string& spec) {
    auto out = mpi_job("{}");
    out["spec"] = parse(spec);
    return plan_text(mpi_plan(out));
  };
  const auto plain = job(
      std::string("{mpiHome: /opt/mpi, mca: {btl: ^openib, pml: ob1}, ssh: {sshdPath: "
                  "/usr/sbin/sshd}, "
                  "runPolicy: {cleanUpWorkers: true}, worker: {replicas: 4, cmd: [./walk, '2'], "
                  "extraMPIArgs: [-N, '3', --enable-recovery, --max-restarts, '7', "
                  "--allow-run-as-root], template: ") +
      pods + "}}");
  const auto by_list =
      job(std::string(
              "{mpiConfig: {home: /opt/mpi, mca: {pml: ob1, btl: ^openib}, script: [./walk, '2'], "
              "extraArgs: [-N, '3', --enable-recovery, --max-restarts, '7', "
              "--allow-run-as-root]}, ssh: {sshdPath: /usr/sbin/sshd}, runPolicy: {cleanUpWorkers: "
              "true}, replicaSpecs: [{type: launcher, template: {}}, {type: worker, replicas: 4, "
              "restartPolicy: {policy: Always}, template: ") +
          pods + "}]}");
  const auto old =
      job(std::string("{mpiHome: /opt/mpi, mca: {btl: ^openib, pml: ob1}, ssh: {sshdPath: "
                      "/usr/sbin/sshd}, runPolicy: {cleanUpWorkers: true}, worker: {replicas: 4, "
                      "cmd: [./walk, '2'], processesPerWorker: 3, processRecovery: {enable: true, "
                      "limit: 7}, template: ") +
          pods + "}}");
  EXPECT_EQ(plain, by_list);
  EXPECT_EQ(plain, old);
}

TEST(T9kMpiJob, MpirunHasItsArgumentsInOrder) {
  const auto plan = mpi_plan(
      mpi_job("{mpiHome: /opt/mpi, mca: {pml: ob1, btl: ^openib}, worker: {extraMPIArgs: [-np, "
              "'4'], cmd: [python, train.py], template: {spec: {containers: [{name: mpi-worker, "
              "image: i, env: [{name: B, value: '1'}, {name: A, value: '2'}, {name: IP, valueFrom: "
              "{fieldRef: {fieldPath: status.podIP}}}]}]}}}}"));
  EXPECT_THAT(mpirun_of(plan),
              ElementsAre("/opt/mpi/bin/mpirun", "--prefix", "/opt/mpi", "--hostfile",
                          "/t9k/hostfile", "--mca", "btl", "^openib", "--mca", "pml", "ob1", "-x",
                          "B", "-x", "A", "-np", "4", "python", "train.py"))
      << "a variable that speaks of its own pod is that pod's alone";
  EXPECT_THAT(mpirun_of(mpi_plan(mpi_job())),
              ElementsAre("mpirun", "--hostfile", "/t9k/hostfile", "./walk"));
}

TEST(T9kMpiJob, SlotsComeFromTheArgumentsElseFromGpusElseAreOne) {
  const auto slots = [](const std::string& args, const std::string& resources = "{}") {
    auto job = mpi_job("worker: {replicas: 1}");
    job["spec"]["worker"]["extraMPIArgs"] = parse(args);
    job["spec"]["worker"]["template"]["spec"]["containers"].array()[0]["resources"] =
        parse(resources);
    return host_file(mpi_plan(job)).as_string();
  };
  EXPECT_EQ(slots("[-N, '3']"), "j-worker-0.j-worker slots=3\n");
  EXPECT_EQ(slots("[-npernode, '4']"), "j-worker-0.j-worker slots=4\n");
  EXPECT_EQ(slots("[--npernode, '5']"), "j-worker-0.j-worker slots=5\n");
  EXPECT_EQ(slots("[--map-by, 'ppr:6:node:PE=2']"), "j-worker-0.j-worker slots=6\n");
  EXPECT_EQ(slots("[-np, '9']"), "j-worker-0.j-worker slots=1\n");
  EXPECT_EQ(slots("[-np, '9']", "{limits: {nvidia.com/gpu: 8}}"), "j-worker-0.j-worker slots=8\n");
  EXPECT_EQ(slots("[-N, '2']", "{limits: {nvidia.com/gpu: 8}}"), "j-worker-0.j-worker slots=2\n");
}

TEST(T9kMpiJob, TheLauncherIsACopyWithoutWhatOnlyWorkersNeed) {
  const auto plan = mpi_plan(mpi_job(
      "worker: {template: {metadata: {annotations: {note: mine}}, spec: {nodeSelector: {pool: a}, "
      "initContainers: [{name: fetch, image: i, resources: {limits: {nvidia.com/gpu: 1, cpu: "
      "1}}}], containers: [{name: sidecar, image: s}, {name: mpi-worker, image: i, command: [x], "
      "args: [z], ports: [{containerPort: 22}], readinessProbe: {tcpSocket: {port: 22}}, "
      "resources: {limits: {nvidia.com/gpu: 1, cpu: 2}, requests: {rdma/hca: 1}}}]}}}"));
  const plan::Role& launcher = *plan.role("launcher");
  const json::Value& main = main_container(launcher);
  EXPECT_EQ(launcher.pod["spec"]["containers"].as_array().size(), 1U);
  EXPECT_EQ(main["name"].as_string(), "launcher");
  EXPECT_EQ(main["resources"], parse("{limits: {cpu: 2}}"));
  EXPECT_TRUE(main["readinessProbe"].is_null());
  EXPECT_TRUE(main["ports"].is_null());
  EXPECT_TRUE(main["args"].is_null());
  EXPECT_EQ(launcher.pod["spec"]["nodeSelector"], parse("{pool: a}"));
  EXPECT_EQ(launcher.pod["metadata"]["annotations"]["note"].as_string(), "mine");
  const json::Value& fetch = launcher.pod["spec"]["initContainers"][1];
  EXPECT_EQ(fetch["name"].as_string(), "fetch");
  EXPECT_EQ(fetch["resources"], parse("{limits: {cpu: 1}}"));
  const plan::Role& worker = *plan.role("worker");
  EXPECT_EQ(worker.main_container, "mpi-worker");
  EXPECT_EQ(worker.pod["spec"]["containers"].as_array().size(), 2U);
  EXPECT_THAT(command_of(worker.pod, 1), ElementsAre("/muster/bin/muster-agent", "run"));
  EXPECT_EQ(worker.pod["spec"]["containers"][1]["resources"]["limits"]["nvidia.com/gpu"].as_int(),
            1);
}

TEST(T9kMpiJob, CommandAndArgumentsOfWorkersAreNotUsedAndThatIsSaid) {
  auto job = mpi_job();
  json::Value& main = job["spec"]["worker"]["template"]["spec"]["containers"].array()[0];
  EXPECT_THAT(warnings(job), IsEmpty());
  main["command"] = parse("[python]");
  main["args"] = parse("[train.py]");
  EXPECT_THAT(warnings(job), ElementsAre("NotObeyed", "NotObeyed"));
  job["spec"]["worker"]["template"]["spec"]["restartPolicy"] = "Never";
  EXPECT_THAT(warnings(job), Contains("RestartPolicyReplaced"));
  const plan::Plan plan = mpi_plan(job);
  EXPECT_THAT(command_of(plan.role("worker")->pod), ElementsAre("/muster/bin/muster-agent", "run"));
  EXPECT_TRUE(main_container(*plan.role("worker"))["args"].is_null());
}

TEST(T9kMpiJob, ALauncherMayHaveATemplateOfItsOwn) {
  const auto job = [](const std::string& launcher) {
    auto out = mpi_job(
        "{mpiConfig: {script: [./walk]}, replicaSpecs: [{type: worker, template: {spec: "
        "{nodeSelector: {pool: gpu}, containers: [{name: worker, image: 'w:1', workingDir: /code, "
        "env: [{name: A, value: '1'}, {name: B, value: '2'}]}]}}}]}");
    out["spec"]["replicaSpecs"].array().push_back(parse(launcher));
    return mpi_plan(out);
  };
  const auto own =
      job("{type: launcher, template: {spec: {containers: [{name: log, image: l}, {name: launcher, "
          "env: [{name: B, value: '3'}], resources: {limits: {cpu: 1}}}]}}}");
  const json::Value& pod = own.role("launcher")->pod;
  EXPECT_EQ(pod["spec"]["containers"][1]["image"].as_string(), "w:1") << "the worker's";
  EXPECT_EQ(pod["spec"]["containers"][1]["workingDir"].as_string(), "/code");
  EXPECT_TRUE(pod["spec"]["nodeSelector"].is_null());
  EXPECT_THAT(command_of(pod, 0), IsEmpty());
  EXPECT_THAT(command_of(pod, 1), Contains("mpirun"));
  EXPECT_THAT(command_of(pod, 1), Not(Contains("A"))) << "the launcher has no A to hand on";
  EXPECT_THAT(command_of(pod, 1), Contains("B"));
  const auto placed =
      job("{type: launcher, template: {metadata: {labels: {team: x}}, spec: {nodeSelector: {pool: "
          "cpu}}}}");
  const json::Value& copy = placed.role("launcher")->pod;
  EXPECT_EQ(copy["spec"]["nodeSelector"], parse("{pool: cpu}"));
  EXPECT_EQ(copy["metadata"]["labels"]["team"].as_string(), "x");
  EXPECT_EQ(copy["spec"]["containers"][0]["image"].as_string(), "w:1");
}

TEST(T9kMpiJob, RestartPoliciesOfTheListLayout) {
  using On = plan::Retry::On;
  struct Row {
    const char* policy;
    On on;
    std::optional<std::int64_t> limit;
    const char* pod;
  };
  const std::vector<Row> rows = {{"{}", On::Never, {}, "Never"},
                                 {"{policy: OnFailure}", On::Never, {}, "Never"},
                                 {"{policy: OnFailure, limit: 2}", On::AnyFailure, 2, "Never"},
                                 {"{policy: Never, limit: 2}", On::Never, {}, "Never"},
                                 {"{policy: Always, limit: 2}", On::AnyFailure, 2, "Never"},
                                 {"{policy: Always}", On::Disruption, {}, "Always"}};
  for (const Row& row : rows) {
    auto job = mpi_job(
        "{mpiConfig: {script: [./walk]}, replicaSpecs: [{type: worker, template: {spec: "
        "{containers: [{name: worker, image: i}]}}}, {type: launcher, template: {}}]}");
    job["spec"]["replicaSpecs"].array()[0]["restartPolicy"] = parse(row.policy);
    const auto plan = mpi_plan(job);
    EXPECT_EQ(plan.role("worker")->retry.on, row.on) << row.policy;
    EXPECT_EQ(plan.role("worker")->retry.limit, row.limit) << row.policy;
    EXPECT_EQ(plan.role("worker")->pod["spec"]["restartPolicy"].as_string(), row.pod) << row.policy;
    EXPECT_EQ(plan.role("launcher")->retry.on, On::Never) << "its own has another entry";
  }
  auto job = mpi_job(
      "{mpiConfig: {script: [./walk]}, replicaSpecs: [{type: worker, template: {spec: "
      "{containers: [{name: worker, image: i}]}}}, {type: launcher, restartPolicy: {policy: "
      "Always}, template: {}}]}");
  EXPECT_EQ(mpi_plan(job).role("launcher")->retry.on, On::AnyFailure);
  EXPECT_EQ(mpi_plan(job).role("launcher")->pod["spec"]["restartPolicy"].as_string(), "Never");
  EXPECT_THAT(warnings(job), ElementsAre("NotObeyed"));
}

TEST(T9kMpiJob, SshdRunsOnlyWhereSomebodyAsksForIt) {
  const auto worker = [](const json::Value& job) {
    return command_of(mpi_plan(job).role("worker")->pod);
  };
  EXPECT_THAT(worker(mpi_job("ssh: {sshdPath: /opt/sshd}")),
              ElementsAre("/muster/bin/muster-agent", "run"));
  const auto asked = mpi_job("ssh: {sshdPath: /opt/sshd, sshAuthMountPath: /keys}");
  EXPECT_THAT(worker(asked), ElementsAre("/muster/bin/muster-agent", "sshd", "--sshd", "/opt/sshd",
                                         "--auth", "/keys"));
  const plan::Plan by_sshd = mpi_plan(asked);
  EXPECT_EQ(by_sshd.objects[0].source, plan::Source::SshKeys);
  const json::Value& env = main_container(*by_sshd.role("launcher"))["env"];
  EXPECT_THAT((*api::find_named(env, "OMPI_MCA_plm_rsh_agent"))["value"].as_string(),
              testing::StartsWith("ssh "));
  auto annotated = mpi_job();
  annotated["metadata"]["annotations"]["muster.dev/remote-start"] = "sshd";
  EXPECT_THAT(worker(annotated), ElementsAre("/muster/bin/muster-agent", "sshd", "--sshd",
                                             "/usr/sbin/sshd", "--auth", "/root/.ssh"));
  auto refused = asked;
  refused["metadata"]["annotations"]["muster.dev/remote-start"] = "agent";
  EXPECT_THAT(worker(refused), ElementsAre("/muster/bin/muster-agent", "run"));
  EXPECT_THAT(mistakes(mpi_job("{ssh: {sshAuthMountPath: /keys}, worker: {template: {spec: "
                               "{volumes: [{name: v, emptyDir: {}}], containers: [{name: "
                               "mpi-worker, image: i, volumeMounts: [{name: v, mountPath: "
                               "/keys}]}]}}}}")),
              ElementsAre("spec.worker.template.spec.containers[0].volumeMounts[0].mountPath "
                          "(reserved)"));
}

TEST(T9kMpiJob, DebugAndResumeChangeWhatPodsRun) {
  const auto debug = mpi_plan(mpi_job(
      "runMode: {debug: {enabled: true, replicaSpecs: [{type: launcher, skipInitContainer: true, "
      "command: [bash, -c, 'sleep 1d']}]}, pause: {resumeSpecs: [{type: worker, command: [x]}]}}"));
  EXPECT_THAT(command_of(debug.role("launcher")->pod), ElementsAre("bash", "-c", "sleep 1d"));
  EXPECT_EQ(debug.role("launcher")->pod["spec"]["initContainers"].as_array().size(), 1U)
      << "ours stays";
  EXPECT_EQ(debug.role("worker")->pod["spec"]["initContainers"].as_array().size(), 2U);
  EXPECT_FALSE(debug.role("worker")->pod_resumed) << "who is debugged is debugged after a pause";
  EXPECT_THAT(debug.success, IsEmpty());
  EXPECT_THAT(debug.failure, IsEmpty());

  const auto plan = mpi_plan(
      mpi_job("runMode: {pause: {resumeSpecs: [{type: launcher, args: [--resume]}, {type: worker, "
              "skipInitContainer: true, command: [watch], args: [me]}]}}"));
  EXPECT_FALSE(plan.hold);
  const json::Value& launcher = *plan.role("launcher")->pod_resumed;
  EXPECT_THAT(command_of(launcher),
              ElementsAre("/muster/bin/muster-agent", "launch", "--hostfile", "/t9k/hostfile", "--",
                          "mpirun", "--hostfile", "/t9k/hostfile", "./walk", "--resume"));
  const json::Value& worker = *plan.role("worker")->pod_resumed;
  EXPECT_THAT(command_of(worker),
              ElementsAre("/muster/bin/muster-agent", "run", "--", "watch", "me"));
  EXPECT_EQ(worker["spec"]["initContainers"].as_array().size(), 1U);
  EXPECT_EQ(plan.role("worker")->pod["spec"]["initContainers"].as_array().size(), 2U);
  const auto whole = mpi_plan(
      mpi_job("runMode: {pause: {resumeSpecs: [{type: launcher, command: [mpirun, ./other]}]}}"));
  EXPECT_THAT(command_of(*whole.role("launcher")->pod_resumed),
              ElementsAre("/muster/bin/muster-agent", "launch", "--hostfile", "/t9k/hostfile", "--",
                          "mpirun", "./other"));
  EXPECT_FALSE(whole.role("worker")->pod_resumed);
}

TEST(T9kMpiJob, PauseWinsOverDebug) {
  const auto plan = mpi_plan(mpi_job("runMode: {debug: {enabled: true}, pause: {enabled: true}}"));
  EXPECT_TRUE(plan.hold);
}

TEST(T9kMpiJob, ResumeSpecsStayAndDebugIsNotTurnedOn) {
  const auto specs = [](const std::string& list, const std::string& enabled = "false") {
    return mpi_job("runMode: {pause: {enabled: " + enabled + ", resumeSpecs: " + list + "}}");
  };
  EXPECT_THAT(update_mistakes(specs("[{type: worker}]"), specs("[{type: worker}]", "true")),
              IsEmpty());
  const auto where = ElementsAre("spec.runMode.pause.resumeSpecs");
  EXPECT_THAT(update_mistakes(specs("[{type: worker}]"), specs("[{type: launcher}]")), where);
  EXPECT_THAT(update_mistakes(mpi_job(), specs("[{type: launcher}]")), where);
  EXPECT_THAT(update_mistakes(specs("[{type: launcher}]"), mpi_job()), where);
  const auto on = mpi_job("runMode: {debug: {enabled: true}}");
  EXPECT_THAT(update_mistakes(on, mpi_job()), IsEmpty());
  EXPECT_THAT(update_mistakes(mpi_job(), on), ElementsAre("spec.runMode.debug.enabled"));
  EXPECT_THAT(update_mistakes(mpi_job("runMode: {debug: {enable: true}}"), on), IsEmpty());
}

TEST(T9kMpiJob, CleanUpWorkersSaysWhetherTheyStay) {
  using plan::CleanUp;
  const auto kept = mpi_plan(mpi_job());
  EXPECT_EQ(kept.role("worker")->on_success, CleanUp::None);
  const auto gone = mpi_plan(mpi_job("runPolicy: {cleanUpWorkers: true}"));
  EXPECT_EQ(gone.role("worker")->on_success, CleanUp::All);
  EXPECT_EQ(gone.role("worker")->on_failure, CleanUp::All);
  EXPECT_EQ(gone.role("launcher")->on_success, CleanUp::None);
}

TEST(T9kMpiJob, UnknownFieldsAreKeptAndSaid) {
  EXPECT_THAT(warnings(mpi_job("runPolicy: {activeDeadlineSeconds: 5}")),
              ElementsAre("UnknownField"));
}

TEST(T9kMpiJob, TheEmbeddedSchedulerIsToldQueueAndPriority) {
  const auto plan = mpi_plan(mpi_job("scheduler: {t9kScheduler: {queue: gpu, priority: 7}}"));
  EXPECT_EQ(plan.gang->queue, "gpu");
  EXPECT_EQ(plan.gang->priority, 7);
  EXPECT_EQ(plan.gang->minimum, 3);
  EXPECT_EQ(mpi_plan(mpi_job()).gang->queue, "");
}

}  // namespace
}  // namespace muster::dialects::test
