#include "api/pod.h"

#include <gtest/gtest.h>

#include "json/read.h"

namespace muster::api {
namespace {

json::Value parse(const char* text) {
  return json::read(text).value();
}

TEST(Pod, Phase) {
  EXPECT_EQ(phase_of(parse("{}")), PodPhase::Pending);
  EXPECT_EQ(phase_of(parse(R"({"status":{"phase":"Weird"}})")), PodPhase::Unknown);
  for (const auto phase : {PodPhase::Pending, PodPhase::Running, PodPhase::Succeeded,
                           PodPhase::Failed, PodPhase::Unknown}) {
    json::Value pod;
    pod.make_path("status.phase") = to_string(phase);
    EXPECT_EQ(phase_of(pod), phase);
    EXPECT_EQ(is_finished(phase), phase == PodPhase::Succeeded || phase == PodPhase::Failed);
  }
}

json::Value ended_pod() {
  return parse(R"({
    "spec": {"nodeName": "n"},
    "status": {
      "podIP": "10.1.2.3",
      "conditions": [{"type": "Ready", "status": "True"}],
      "initContainerStatuses": [
        {"name": "wait", "restartCount": 2, "state": {"terminated": {"exitCode": 0}}}],
      "containerStatuses": [
        {"name": "main", "restartCount": 3, "state": {"terminated": {"exitCode": 138}}},
        {"name": "side", "restartCount": 0, "state": {"running": {}},
         "lastState": {"terminated": {"exitCode": 1}}}]}})");
}

TEST(Pod, ReadsContainerStatuses) {
  const json::Value pod = ended_pod();
  EXPECT_EQ(exit_code_of(pod, "main"), 138);
  EXPECT_EQ(exit_code_of(pod, "wait"), 0);
  EXPECT_EQ(exit_code_of(pod, "side"), std::nullopt);
  EXPECT_EQ(exit_code_of(pod, "none"), std::nullopt);
  EXPECT_EQ(container_status(pod, "main")["restartCount"].as_int(), 3);
  EXPECT_TRUE(container_status(pod, "none").is_null());
  EXPECT_EQ(restarts_of(pod), 5);
  EXPECT_TRUE(is_ready(pod));
  EXPECT_FALSE(is_ready(parse("{}")));
  EXPECT_EQ(node_name_of(pod), "n");
  EXPECT_EQ(pod_ip_of(pod), "10.1.2.3");
}

TEST(Pod, NonsenseCountsCannotOverflow) {
  EXPECT_EQ(restarts_of(parse(R"({"status":{"containerStatuses":[
      {"restartCount":9223372036854775807},{"restartCount":9223372036854775807},
      {"restartCount":-5}]}})")),
            2'000'000'000);
}

std::string request(const char* spec, const char* resource) {
  const auto requests = requests_of(parse(spec));
  const auto found = requests.find(resource);
  return found == requests.end() ? "none" : found->second.text();
}

TEST(Pod, RequestsAreTheSumOfTheContainers) {
  constexpr auto kSpec = R"({"containers": [
      {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": 4}}},
      {"resources": {"limits": {"cpu": 1, "nvidia.com/gpu": 2}}}, {}]})";
  EXPECT_EQ(request(kSpec, "cpu"), "1500m");  // limits only where a request is absent
  EXPECT_EQ(request(kSpec, "memory"), "1073741824");
  EXPECT_EQ(request(kSpec, "nvidia.com/gpu"), "2");
  EXPECT_EQ(request(kSpec, "pods"), "none");
}

TEST(Pod, TheLargestInitContainerCountsWhenItIsMore) {
  constexpr auto kSpec = R"({
      "containers": [{"resources": {"requests": {"cpu": 2, "memory": "1Ki"}}}],
      "initContainers": [{"resources": {"requests": {"cpu": 1, "memory": "3Ki"}}},
                         {"resources": {"requests": {"cpu": 3, "memory": "2Ki"}}}],
      "overhead": {"cpu": "100m"}})";
  EXPECT_EQ(request(kSpec, "cpu"), "3100m");
  EXPECT_EQ(request(kSpec, "memory"), "3072");
}

TEST(Pod, SidecarsCountBesideBoth) {
  constexpr auto kSpec = R"({
      "containers": [{"resources": {"requests": {"cpu": 1}}}],
      "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": 1}}},
                         {"resources": {"requests": {"cpu": 2}}}]})";
  EXPECT_EQ(request(kSpec, "cpu"), "3");
}

TEST(Pod, QuantitiesThatCannotBeReadCountAsNothing) {
  EXPECT_EQ(request(R"({"containers":[{"resources":{"requests":{"cpu":"lots"}}}]})", "cpu"),
            "none");
}

}  // namespace
}  // namespace muster::api
