#include "cluster/kube/request_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/kube/kube_cluster.h"
#include "memory_files.h"
#include "rt/scope.h"
#include "rt/sim_loop.h"
#include "scripted_transport.h"

namespace muster::cluster::kube {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

// A client whose server answers as told, each answer after 40 ms.
class RequestCountsTest : public ::testing::Test {
 protected:
  KubeCluster& cluster(ScriptedTransport::Answer script) {
    auto transport = std::make_unique<ScriptedTransport>(loop_, std::move(script));
    transport->latency = 40ms;
    cluster_ = std::make_unique<KubeCluster>(
        std::make_unique<KubeClient>(loop_, std::move(transport), nullptr,
                                     std::make_shared<Credentials>(loop_, ClientConfig{}, files_),
                                     rng_, KubeClientOptions{.counts = &counts_}));
    return *cluster_;
  }
  std::string text() const {
    std::string out;
    counts_.append(out);
    return out;
  }

  rt::SimLoop loop_{Time{}};
  SeededRng rng_{1};
  MemoryFiles files_;
  RequestCounts counts_;
  std::unique_ptr<KubeCluster> cluster_;
};

TEST_F(RequestCountsTest, EveryAttemptCountsByMethodAndCode) {
  auto& kube = cluster([](auto&, int number) -> Result<net::HttpResponse> {
    if (number == 1) return fail(ErrorCode::Unavailable, "the connection was cut");
    if (number == 2) return answer(429, "{}", "1");
    if (number == 3) return answer(404, "{}");
    return answer(200, R"({"metadata":{"resourceVersion":"9"},"items":[]})");
  });
  EXPECT_FALSE(loop_.run(kube.get(api::pods(), {.ns = "t", .name = "p"})));
  EXPECT_TRUE(loop_.run(kube.watch(api::pods(), {})));
  EXPECT_THAT(text(), HasSubstr("\nrest_client_requests_total{code=\"<error>\",method=\"GET\"} 1\n"
                                "rest_client_requests_total{code=\"200\",method=\"GET\"} 1\n"
                                "rest_client_requests_total{code=\"404\",method=\"GET\"} 1\n"
                                "rest_client_requests_total{code=\"429\",method=\"GET\"} 1\n"));
  EXPECT_THAT(text(), HasSubstr("duration_seconds_bucket{verb=\"GET\",le=\"0.025\"} 0\n"));
  EXPECT_THAT(text(), HasSubstr("duration_seconds_bucket{verb=\"GET\",le=\"0.1\"} 4\n"));
  EXPECT_THAT(text(), HasSubstr("duration_seconds_sum{verb=\"GET\"} 0.160000\n"));
}

TEST_F(RequestCountsTest, WhatWeEndedOurselvesIsNoError) {
  auto& kube = cluster([](auto&, int) { return answer(200, "{}"); });
  rt::TaskScope scope(loop_);
  const auto ask = [](KubeCluster& from) -> Task<void> {
    [[maybe_unused]] const auto pod = co_await from.get(api::pods(), {.ns = "t", .name = "p"});
  };
  scope.spawn(ask(kube));
  loop_.run_for(10ms);
  loop_.run(scope.close());
  EXPECT_THAT(text(), Not(HasSubstr("rest_client_requests_total{")));
}

}  // namespace
}  // namespace muster::cluster::kube
