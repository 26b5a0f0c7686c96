#include "server/http/pod_metrics.h"

#include <gtest/gtest.h>

#include "http_support.h"

namespace muster::server {
namespace {

// Every pod uses the same.
class Steady final : public MetricsSource {
 public:
  Task<std::vector<PodMetrics>> measure(std::vector<ObjectPtr> pods) override {
    std::vector<PodMetrics> measured;
    for (const auto& pod : pods) {
      measured.push_back({.pod = pod,
                          .window = std::chrono::milliseconds(500),
                          .containers = {{.container = "main",
                                          .cpu_nanocores = 250'000'000,
                                          .memory_bytes = 64 << 20U,
                                          .others = {{"nvidia.com/gpu", "970m"}}}}});
    }
    co_return measured;
  }
};

class PodMetricsTest : public HttpFrontTest {
 protected:
  PodMetricsTest() { front_.set_metrics_source(&source_); }

  void pod(const std::string& name, const std::string& label,
           const std::string& phase = "Running") {
    json::Value pod = json::Object{
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", json::Object{{"name", name}, {"labels", json::Object{{"app", label}}}}},
        {"spec", json::Object{
                     {"containers", json::Array{json::Object{{"name", "main"}, {"image", "x"}}}}}}};
    ASSERT_EQ(post("/api/v1/namespaces/default/pods", pod).status, 201);
    json::Value made = get_json("/api/v1/namespaces/default/pods/" + name);
    made["status"] = json::Object{{"phase", phase}};
    ASSERT_EQ(call("PUT", "/api/v1/namespaces/default/pods/" + name + "/status", json::write(made),
                   {{"Content-Type", "application/json"}})
                  .status,
              200);
  }

  Steady source_;
};

TEST_F(PodMetricsTest, ListsAndNames) {
  pod("a", "x");
  pod("b", "y");
  pod("over", "x", "Succeeded");
  const auto list = get_json("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods");
  EXPECT_EQ(list["kind"].as_string(), "PodMetricsList");
  ASSERT_EQ(list["items"].as_array().size(), 2U);
  const json::Value& first = list["items"].as_array()[0];
  EXPECT_EQ(first["metadata"]["name"].as_string(), "a");
  EXPECT_EQ(first["window"].as_string(), "500ms");
  const json::Value& usage = first["containers"].as_array()[0]["usage"];
  EXPECT_EQ(usage["cpu"].as_string(), "250000000n");
  EXPECT_EQ(usage["memory"].as_string(), "65536Ki");
  EXPECT_EQ(usage["nvidia.com/gpu"].as_string(), "970m");
  EXPECT_EQ(get_json("/apis/metrics.k8s.io/v1beta1/pods")["items"].as_array().size(), 2U);
  EXPECT_EQ(get_json("/apis/metrics.k8s.io/v1beta1/pods?labelSelector=app%3Dy")["items"]
                .as_array()
                .size(),
            1U);
  EXPECT_EQ(get_json("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/b")["metadata"]["name"]
                .as_string(),
            "b");
  get_json("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/absent", 404);
  get_json("/apis/metrics.k8s.io/v1beta1/nodes", 404);
}

TEST_F(PodMetricsTest, IsDiscovered) {
  bool listed = false;
  const auto groups = get_json("/apis");
  for (const auto& group : groups["groups"].as_array())
    listed = listed || group["name"].as_string() == "metrics.k8s.io";
  EXPECT_TRUE(listed);
  EXPECT_EQ(get_json("/apis/metrics.k8s.io")["preferredVersion"]["version"].as_string(), "v1beta1");
  const auto resources = get_json("/apis/metrics.k8s.io/v1beta1");
  EXPECT_EQ(resources["resources"].as_array()[0]["kind"].as_string(), "PodMetrics");
}

TEST_F(PodMetricsTest, NobodyMeasures) {
  front_.set_metrics_source(nullptr);
  pod("a", "x");
  EXPECT_EQ(get_json("/apis/metrics.k8s.io/v1beta1/pods")["items"].as_array().size(), 0U);
}

}  // namespace
}  // namespace muster::server
