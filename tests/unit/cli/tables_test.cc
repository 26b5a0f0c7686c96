#include <vector>

#include "cli/verbs/verbs.h"
#include "verb_fixture.h"
#include "yaml/yaml.h"

// What `get` shows of each resource.
namespace muster::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

json::Value object(std::string_view text) {
  const auto documents = yaml::read(text);
  EXPECT_TRUE(documents && documents->size() == 1) << text;
  return documents && !documents->empty() ? documents->front().value : json::Value();
}

class Tables : public VerbTest {
 protected:
  std::string table(const std::vector<std::string>& words, const std::string& output = "") {
    const Outcome seen =
        outcome([&](Context& context) { return get(context, {.words = words, .output = output}); });
    EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
    return seen.out;
  }
  // The STATUS of a pod whose status is this, in YAML.
  std::string state_of(const std::string& status) {
    json::Value made = pod("p");
    made["spec"]["initContainers"] = json::Array{
        json::Object{{"name", "first"}, {"image", "busybox"}, {"command", json::Array{"true"}}},
        json::Object{{"name", "second"}, {"image", "busybox"}, {"command", json::Array{"true"}}}};
    made["status"] = object(status);
    create(api::pods(), made);
    const Outcome seen = outcome(
        [](Context& context) { return get(context, {.words = {"pods", "p"}, .headers = false}); });
    EXPECT_TRUE(loop().run(
        cluster().remove(api::pods(), {.ns = "default", .name = "p"}, {.grace_seconds = 0})));
    EXPECT_THAT(seen.out, MatchesRegex("p +[01]/1 +[^ ]+ +[0-9]+ +[0-9]+s\n"));
    const auto begin = seen.out.find_first_not_of(' ', seen.out.find('/') + 2);
    return seen.out.substr(begin, seen.out.find(' ', begin) - begin);
  }
};

TEST_F(Tables, EventsSayWhenOfWhatAndWhy) {
  json::Value event = object(R"(
      {apiVersion: v1, kind: Event, metadata: {name: e, namespace: default}, type: Warning,
       reason: BackOff, message: started again too often,
       involvedObject: {kind: Pod, name: bert-rank-0, namespace: default}})");
  event["lastTimestamp"] = format_time(loop().now() - std::chrono::minutes(5));
  create(api::events(), event);
  event["metadata"]["name"] = "timeless";
  event.object().erase("lastTimestamp");
  create(api::events(), event);
  const std::string seen = table({"events"});
  EXPECT_THAT(seen, StartsWith("LAST SEEN   TYPE      REASON    OBJECT            MESSAGE\n"));
  EXPECT_THAT(seen, ContainsRegex("\n5m[0-9s]* +Warning +BackOff +Pod/bert-rank-0 +started again "
                                  "too often\n"));
  EXPECT_THAT(seen, ContainsRegex("\n<unknown> +Warning"));
}

TEST_F(Tables, ServicesShowWhereTheyAre) {
  create(api::services(), object(R"(
      {apiVersion: v1, kind: Service, metadata: {name: bert, namespace: default},
       spec: {clusterIP: None, ports: [{port: 80}]}})"));
  const std::string seen = table({"services", "bert"});
  EXPECT_THAT(seen, MatchesRegex("NAME   TYPE        CLUSTER-IP   AGE\n"
                                 "bert   ClusterIP   None         [0-9]s\n"));
}

TEST_F(Tables, ClaimsAndVolumesShowEachOther) {
  create(api::persistent_volumes(), object(R"(
      {apiVersion: v1, kind: PersistentVolume, metadata: {name: disk},
       spec: {capacity: {storage: 5Gi}, accessModes: [ReadWriteOnce], storageClassName: fast,
              persistentVolumeReclaimPolicy: Retain, hostPath: {path: /data},
              claimRef: {namespace: default, name: data}}})"));
  create(api::persistent_volumes(), object(R"(
      {apiVersion: v1, kind: PersistentVolume, metadata: {name: spare},
       spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: slow,
              persistentVolumeReclaimPolicy: Delete, hostPath: {path: /spare}}})"));
  create(api::persistent_volume_claims(), object(R"(
      {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default},
       spec: {accessModes: [ReadWriteOnce], storageClassName: fast, volumeName: disk,
              resources: {requests: {storage: 5Gi}}}})"));
  ASSERT_EQ(outcome([](Context& context) {
              return wait(context,
                          {.words = {"pvc/data"}, .condition = "jsonpath={.status.phase}=Bound"});
            }).code,
            exit_code::kOk);
  EXPECT_THAT(table({"pvc"}), ContainsRegex("^NAME +STATUS +VOLUME +CAPACITY +STORAGECLASS +AGE\n"
                                            "data +Bound +disk +5Gi +fast +[0-9]s\n"));
  const std::string volumes = table({"pv"});
  EXPECT_THAT(volumes, ContainsRegex("^NAME +CAPACITY +RECLAIM POLICY +STATUS +CLAIM +"
                                     "STORAGECLASS +AGE\ndisk +5Gi +Retain +Bound +default/data +"
                                     "fast +[0-9]s\n"));
  EXPECT_THAT(volumes, ContainsRegex("\nspare +1Gi +Delete +Available +slow +[0-9]s\n"));
}

TEST_F(Tables, OfOtherThingsNameAndAge) {
  create(api::config_maps(), object(R"(
      {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: default}})"));
  EXPECT_THAT(table({"configmaps", "settings"}),
              MatchesRegex("NAME       AGE\nsettings   [0-9]s\n"));
}

TEST_F(Tables, WidePodsSayWhereTheyRun) {
  create(api::pods(), pod("waiting"));
  json::Value placed = pod("placed", json::Object{{"running", json::Object{}}});
  placed["spec"]["nodeName"] = "box";
  placed["status"]["podIP"] = "10.222.0.7";
  create(api::pods(), placed);
  const std::string seen = table({"pods"}, "wide");
  EXPECT_THAT(seen, ContainsRegex("^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE\n"));
  EXPECT_THAT(seen, ContainsRegex("\nplaced +1/1 +Running +0 +[0-9]s +10.222.0.7 +box\n"));
  EXPECT_THAT(seen, ContainsRegex("\nwaiting +0/1 +Pending +0 +[0-9]s +<none> +<none>\n"));
}

TEST_F(Tables, TheStateOfAPodIsWhatKeepsIt) {
  const std::string done = "{name: first, state: {terminated: {exitCode: 0}}}";
  EXPECT_EQ(state_of("{phase: Pending, initContainerStatuses: [{name: first}, {name: second}]}"),
            "Init:0/2");
  EXPECT_EQ(state_of("{phase: Pending, initContainerStatuses: [" + done +
                     ", {name: second, state: {waiting: {reason: PodInitializing}}}]}"),
            "Init:1/2");
  EXPECT_EQ(state_of("{phase: Pending, initContainerStatuses: [" + done +
                     ", {name: second, state: {waiting: {reason: CrashLoopBackOff}}}]}"),
            "Init:CrashLoopBackOff");
  EXPECT_EQ(state_of("{phase: Failed, initContainerStatuses: "
                     "[{name: first, state: {terminated: {exitCode: 3}}}]}"),
            "Init:Error");
  EXPECT_EQ(state_of("{phase: Failed, initContainerStatuses: "
                     "[{name: first, state: {terminated: {exitCode: 9, reason: OOMKilled}}}]}"),
            "Init:OOMKilled");
  // A sidecar runs on beside the others.
  EXPECT_EQ(state_of("{phase: Running, initContainerStatuses: [" + done +
                     ", {name: second, started: true, state: {running: {}}}], containerStatuses: "
                     "[{name: main, ready: true, state: {running: {}}}]}"),
            "Running");
  EXPECT_EQ(state_of("{phase: Failed, containerStatuses: "
                     "[{name: main, state: {terminated: {exitCode: 1, reason: Error}}}]}"),
            "Error");
  EXPECT_EQ(state_of("{phase: Failed, reason: Evicted, containerStatuses: "
                     "[{name: main, state: {terminated: {exitCode: 1, reason: Error}}}]}"),
            "Evicted");
  EXPECT_EQ(state_of("{phase: Unknown, reason: NodeLost}"), "NodeLost");
}

TEST_F(Tables, WhatIsBeingDeletedSaysSo) {
  json::Value placed = pod("p", json::Object{{"running", json::Object{}}});
  placed["spec"]["nodeName"] = "box";  // whose agent has to end it
  create(api::pods(), placed);
  EXPECT_TRUE(loop().run(cluster().remove(api::pods(), {.ns = "default", .name = "p"}, {})));
  EXPECT_THAT(table({"pods"}), HasSubstr(" Terminating "));
}

}  // namespace
}  // namespace muster::cli
