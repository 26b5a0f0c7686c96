#include "cluster/kube/kube_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/kube/kube_cluster.h"
#include "json/read.h"
#include "memory_files.h"
#include "rt/scope.h"
#include "rt/sim_loop.h"
#include "scripted_transport.h"

namespace muster::cluster::kube {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"t","uid":"u"}})";

class Switch final : public Fence {
 public:
  bool open = true;
  [[nodiscard]] bool may_write() const override { return open; }
};

class KubeClientTest : public ::testing::Test {
 protected:
  KubeCluster& cluster(ScriptedTransport::Answer script, KubeClientOptions options = {}) {
    auto transport = std::make_unique<ScriptedTransport>(loop_, std::move(script));
    transport_ = transport.get();
    cluster_ = std::make_unique<KubeCluster>(std::make_unique<KubeClient>(
        loop_, std::move(transport), nullptr,
        std::make_shared<Credentials>(
            loop_, ClientConfig{.token = Secret("s3cr3t"), .token_file = token_file_}, files_),
        rng_, std::move(options)));
    return *cluster_;
  }
  static json::Value pod() {
    json::Value pod;
    pod["metadata"]["name"] = "p";
    pod["metadata"]["namespace"] = "t";
    return pod;
  }

  rt::SimLoop loop_{Time{}};
  SeededRng rng_{1};
  MemoryFiles files_;
  std::string token_file_;
  ScriptedTransport* transport_ = nullptr;
  std::unique_ptr<KubeCluster> cluster_;
};

TEST_F(KubeClientTest, SendsTheTokenTheAgentAndThePrefix) {
  auto& kube = cluster([](auto&, int) { return answer(200, kPod); },
                       {.prefix = "/base", .user_agent = "muster/9"});
  ASSERT_TRUE(loop_.run(kube.create(api::pods(), pod())));
  const auto& request = transport_->requests.at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/base/api/v1/namespaces/t/pods");
  EXPECT_EQ(request.headers.get("Authorization"), "Bearer s3cr3t");
  EXPECT_EQ(request.headers.get("User-Agent"), "muster/9");
  EXPECT_EQ(request.headers.get("Content-Type"), "application/json");
}

TEST_F(KubeClientTest, APageLargerThanWeReadSaysSoAndTheNextIsRead) {
  auto& kube = cluster([](auto& request, int) -> Result<net::HttpResponse> {
    if (request.target.find("limit=2") == std::string::npos) {
      return fail(ErrorCode::TooLarge, "https://host: the answer is larger than 67108864 bytes");
    }
    return answer(200, R"({"metadata":{"resourceVersion":"9","continue":"c"},"items":[]})");
  });
  const auto page = loop_.run(kube.list(api::nodes(), {.limit = 4}));
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, ErrorCode::TooLarge);
  EXPECT_EQ(page.error().message,
            "listing nodes in pages of 4: https://host: the answer is larger than 67108864 bytes");
  EXPECT_EQ(transport_->requests.size(), 1U) << "the same page would be as large again";
  EXPECT_THAT(loop_.run(kube.list(api::nodes(), {.limit = 0})).error().message,
              HasSubstr("listing nodes in one page"));
  const auto half = loop_.run(kube.list(api::nodes(), {.limit = 2}));
  ASSERT_TRUE(half);
  EXPECT_EQ(half->continue_token, "c");
}

TEST_F(KubeClientTest, APageWithMoreValuesThanWeReadIsTooLargeAsWell) {
  std::string items = "0";
  for (std::size_t i = 0; i < json::kAnswerLimits.nodes; ++i) items += ",0";
  const std::string body = R"({"metadata":{},"items":[)" + items + "]}";
  auto& kube = cluster([&](auto&, int) { return answer(200, body); });
  EXPECT_EQ(loop_.run(kube.list(api::nodes(), {})).error().code, ErrorCode::TooLarge);
}

TEST_F(KubeClientTest, AnObjectThatIsTooMuchToReadIsTheServersFault) {
  const std::string body =
      R"({"a":)" + std::string(limits::kMaxDepth, '[') + std::string(limits::kMaxDepth, ']') + "}";
  auto& kube = cluster([&](auto&, int) { return answer(200, body); });
  EXPECT_EQ(loop_.run(kube.get(api::nodes(), {"", "n"})).error().code, ErrorCode::Parse);
}

TEST_F(KubeClientTest, ARefusedWriteIsRepeatedAfterTheTimeTheServerAsksFor) {
  auto& kube = cluster(
      [](auto&, int number) { return number < 3 ? answer(429, "busy", "3") : answer(201, kPod); });
  ASSERT_TRUE(loop_.run(kube.create(api::pods(), pod())));
  EXPECT_EQ(transport_->requests.size(), 3U);
  EXPECT_GE(loop_.monotonic().since_start, 6s);
  EXPECT_LT(loop_.monotonic().since_start, 8s);
}

TEST_F(KubeClientTest, A503IsRepeatedOnlyWithRetryAfter) {
  auto& kube = cluster([](auto&, int number) {
    return number == 1 ? answer(503, "starting", "1") : answer(503, "broken");
  });
  EXPECT_EQ(loop_.run(kube.create(api::pods(), pod())).error().code, ErrorCode::Unavailable);
  EXPECT_EQ(transport_->requests.size(), 2U);
}

TEST_F(KubeClientTest, RefusalsWithoutEndAreToldToTheCaller) {
  auto& kube = cluster([](auto&, int) { return answer(429, "busy", "1"); });
  EXPECT_EQ(loop_.run(kube.get(api::pods(), {"t", "p"})).error().code, ErrorCode::TooManyRequests);
  EXPECT_LE(loop_.monotonic().since_start, 46s);
}

TEST_F(KubeClientTest, AWriteThatMayHaveHappenedIsNotRepeated) {
  auto& kube = cluster([](auto&, int) -> Result<net::HttpResponse> {
    return fail(ErrorCode::Unavailable, "connection reset");
  });
  EXPECT_EQ(loop_.run(kube.create(api::pods(), pod())).error().code, ErrorCode::Unavailable);
  EXPECT_EQ(transport_->requests.size(), 1U);
  EXPECT_FALSE(loop_.run(kube.remove(api::pods(), {"t", "p"}, {.uid = "u"})));
  EXPECT_EQ(transport_->requests.size(), 2U);
}

TEST_F(KubeClientTest, AReadIsRepeatedWhenTheConnectionBreaks) {
  auto& kube = cluster([](auto&, int number) -> Result<net::HttpResponse> {
    if (number < 4) return fail(ErrorCode::Unavailable, "connection refused");
    return answer(200, kPod);
  });
  EXPECT_TRUE(loop_.run(kube.get(api::pods(), {"t", "p"})));
  EXPECT_EQ(transport_->requests.size(), 4U);
}

TEST_F(KubeClientTest, AServerThatNeverAnsweredIsGivenUpSooner) {
  bool there = false;
  auto& kube = cluster(
      [&](auto&, int) -> Result<net::HttpResponse> {
        if (there) return answer(200, kPod);
        return fail(ErrorCode::Unavailable, "connection refused");
      },
      {.retry = {.first_contact = 3s}});
  EXPECT_FALSE(loop_.run(kube.get(api::pods(), {"t", "p"})));
  EXPECT_LE(loop_.monotonic().since_start, 3s);
  there = true;
  EXPECT_TRUE(loop_.run(kube.get(api::pods(), {"t", "p"})));
  there = false;
  EXPECT_FALSE(loop_.run(kube.get(api::pods(), {"t", "p"})));
  EXPECT_GE(loop_.monotonic().since_start, 20s) << "it was there, and may come back";
}

TEST_F(KubeClientTest, AnAnswerThatDoesNotComeIsATimeout) {
  auto& kube = cluster([](auto&, int) { return answer(200, kPod); }, {.request_timeout = 5s});
  transport_->latency = 1h;
  EXPECT_EQ(loop_.run(kube.create(api::pods(), pod())).error().code, ErrorCode::Timeout);
  EXPECT_EQ(loop_.monotonic().since_start, 5s);
}

TEST_F(KubeClientTest, AClosedFenceSendsNothing) {
  Switch fence;
  fence.open = false;
  auto& kube = cluster([](auto&, int) { return answer(200, kPod); }, {.fence = &fence});
  EXPECT_EQ(loop_.run(kube.create(api::pods(), pod())).error().code, ErrorCode::Unavailable);
  EXPECT_FALSE(loop_.run(kube.update(api::pods(), pod())));
  EXPECT_FALSE(loop_.run(kube.update_status(api::pods(), pod())));
  EXPECT_FALSE(loop_.run(kube.remove(api::pods(), {"t", "p"}, {})));
  EXPECT_FALSE(loop_.run(kube.bind({"t", "p"}, "u", "n")));
  EXPECT_TRUE(transport_->requests.empty());
  EXPECT_TRUE(loop_.run(kube.get(api::pods(), {"t", "p"})));
  json::Value lease = pod();
  EXPECT_TRUE(loop_.run(kube.update(api::leases(), lease)));  // the election itself
}

TEST_F(KubeClientTest, TheFenceIsAskedAgainBeforeARepeat) {
  Switch fence;
  auto& kube = cluster(
      [&](auto&, int) {
        fence.open = false;
        return answer(429, "busy", "1");
      },
      {.fence = &fence});
  EXPECT_EQ(loop_.run(kube.create(api::pods(), pod())).error().code, ErrorCode::Unavailable);
  EXPECT_EQ(transport_->requests.size(), 1U);
}

Task<void> create_one(Cluster& kube, json::Value object, int& done) {
  const auto created = co_await kube.create(api::pods(), std::move(object));
  EXPECT_TRUE(created);
  ++done;
}

TEST_F(KubeClientTest, ConcurrencyIsBounded) {
  auto& kube = cluster([](auto&, int) { return answer(201, kPod); });
  transport_->latency = 10ms;
  rt::TaskScope scope(loop_);
  int done = 0;
  for (int i = 0; i < 1000; ++i) scope.spawn(create_one(kube, pod(), done));
  loop_.run(scope.join());
  EXPECT_EQ(done, 1000);
  EXPECT_GT(transport_->most_in_flight, 64);  // it grew, because the server stayed as fast
  EXPECT_LE(transport_->most_in_flight, 256);
}

TEST_F(KubeClientTest, LeasesDoNotQueueBehindOtherWrites) {
  auto& kube = cluster([](auto&, int) { return answer(201, kPod); });
  transport_->latency = 10s;
  rt::TaskScope scope(loop_);
  int done = 0;
  for (int i = 0; i < 500; ++i) scope.spawn(create_one(kube, pod(), done));
  loop_.drain();
  ASSERT_TRUE(loop_.run(kube.update(api::leases(), pod())));
  EXPECT_EQ(loop_.monotonic().since_start, 10s);
  loop_.run(scope.join());
}

TEST_F(KubeClientTest, ATokenThatTheServerEchoesIsNotRepeated) {
  auto& kube = cluster([](const net::HttpRequest& request, int) {
    return answer(400, std::string(request.headers.get("authorization").value_or("")));
  });
  const auto result = loop_.run(kube.get(api::pods(), {"t", "p"}));
  EXPECT_THAT(result.error().message, Not(HasSubstr("s3cr3t")));
  EXPECT_THAT(result.error().message, HasSubstr("[token]"));
}

TEST_F(KubeClientTest, ATokenFileIsReadAgainAfterTenSeconds) {
  token_file_ = "/token";
  files_.files["/token"] = "first\n";
  auto& kube = cluster([](auto&, int) { return answer(200, kPod); });
  const auto token_now = [&] {
    EXPECT_TRUE(loop_.run(kube.get(api::pods(), {"t", "p"})));
    return std::string(transport_->requests.back().headers.get("authorization").value_or(""));
  };
  EXPECT_EQ(token_now(), "Bearer first");
  files_.files["/token"] = "second\n";
  EXPECT_EQ(token_now(), "Bearer first");
  loop_.run_for(11s);
  EXPECT_EQ(token_now(), "Bearer second");
  files_.files.clear();
  loop_.run_for(11s);
  EXPECT_EQ(token_now(), "Bearer second");
}

TEST_F(KubeClientTest, ARefusedTokenIsLookedForAtOnceAlsoUnderAWrite) {
  token_file_ = "/token";
  files_.files["/token"] = "first";
  auto& kube = cluster([this](auto& request, int) {
    files_.files["/token"] = "second";
    return request.headers.get("authorization") == "Bearer second" ? answer(201, kPod)
                                                                   : answer(401, "expired");
  });
  EXPECT_TRUE(loop_.run(kube.create(api::pods(), pod())));
  EXPECT_EQ(transport_->requests.size(), 2U);
  EXPECT_EQ(loop_.monotonic().since_start, 0s);
}

// --- certificates on disk ---

class Certificates : public KubeClientTest {
 protected:
  void SetUp() override {
    write("/ca", identity("ca"));
    write("/client", identity("client"));
    ClientConfig config{.ca_pem = files_.files["/ca.crt"],
                        .ca_file = "/ca.crt",
                        .client_certificate_pem = files_.files["/client.crt"],
                        .client_key_pem = Secret(files_.files["/client.key"]),
                        .client_certificate_file = "/client.crt",
                        .client_key_file = "/client.key"};
    credentials_ = std::make_shared<Credentials>(loop_, config, files_);
    auto transport =
        std::make_unique<ScriptedTransport>(loop_, [](auto&, int) { return answer(200, kPod); });
    transport_ = transport.get();
    cluster_ = std::make_unique<KubeCluster>(std::make_unique<KubeClient>(
        loop_, std::move(transport), nullptr, credentials_, rng_, KubeClientOptions{}));
  }
  static net::Identity identity(const std::string& name) {
    return net::make_self_signed({.common_name = name}, Time{}).value();
  }
  void write(const std::string& name, const net::Identity& what) {
    files_.files[name + ".crt"] = what.certificate_pem;
    files_.files[name + ".key"] = what.key_pem.reveal();
  }
  // How often connections were renewed, after a request ten seconds on.
  int renewed() {
    loop_.run_for(11s);
    EXPECT_TRUE(loop_.run(cluster_->get(api::pods(), {"t", "p"})));
    return transport_->renewed;
  }

  std::shared_ptr<Credentials> credentials_;
};

TEST_F(Certificates, NewOnesOnDiskMeanNewConnections) {
  EXPECT_EQ(renewed(), 0);
  const auto fresh = identity("fresh");
  write("/client", fresh);
  EXPECT_EQ(renewed(), 1);
  EXPECT_EQ(credentials_->identity().certificate_pem, fresh.certificate_pem);
  write("/ca", identity("new ca"));
  EXPECT_EQ(renewed(), 2);
  EXPECT_EQ(credentials_->ca_pem(), files_.files["/ca.crt"]);
  EXPECT_EQ(renewed(), 2);
}

TEST_F(Certificates, HalfOfAPairAndWhatIsNoneChangesNothing) {
  const std::string before = credentials_->identity().certificate_pem;
  const auto fresh = identity("fresh");
  files_.files["/client.crt"] = fresh.certificate_pem;
  files_.files["/ca.crt"] = "half a cert";
  EXPECT_EQ(renewed(), 0);
  EXPECT_EQ(credentials_->identity().certificate_pem, before);
  files_.files["/client.key"] = fresh.key_pem.reveal();
  EXPECT_EQ(renewed(), 1);
  files_.files.clear();
  EXPECT_EQ(renewed(), 1);
  EXPECT_EQ(credentials_->identity().certificate_pem, fresh.certificate_pem);
}

TEST_F(Certificates, AreLookedAtAtOnceForANewConnection) {
  EXPECT_TRUE(loop_.run(cluster_->get(api::pods(), {"t", "p"})));
  write("/ca", identity("new ca"));
  EXPECT_TRUE(loop_.run(cluster_->get(api::pods(), {"t", "p"})));
  EXPECT_EQ(transport_->renewed, 0);
  credentials_->look_at_files();
  EXPECT_EQ(credentials_->ca_pem(), files_.files["/ca.crt"]);
}

TEST_F(KubeClientTest, WatchGivesEventsThenSaysHowItEnded) {
  const std::string event = R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})";
  auto& kube = cluster([&](auto&, int) { return answer(200, event + "\n" + event + "\n{\"ty"); });
  auto watch = loop_.run(kube.watch(api::pods(), {.resource_version = "1"}));
  ASSERT_TRUE(watch);
  EXPECT_EQ(loop_.run((*watch)->next())->type, EventType::Added);
  EXPECT_EQ(loop_.run((*watch)->next())->type, EventType::Added);
  EXPECT_EQ(loop_.run((*watch)->next()).error().code, ErrorCode::Unavailable);
}

TEST_F(KubeClientTest, WatchTellsTooOldFromTheStatusAndFromTheStream) {
  auto& kube = cluster([&](auto&, int number) {
    if (number == 1)
      return answer(410, R"({"kind":"Status","code":410,"reason":"Expired","message":"old"})");
    return answer(200, R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"old"}})"
                       "\n");
  });
  EXPECT_EQ(loop_.run(kube.watch(api::pods(), {})).error().code, ErrorCode::Gone);
  auto watch = loop_.run(kube.watch(api::pods(), {}));
  ASSERT_TRUE(watch);
  EXPECT_EQ(loop_.run((*watch)->next()).error().code, ErrorCode::Gone);
}

TEST_F(KubeClientTest, NonsenseInAWatchMeansListAgain) {
  auto& kube = cluster([&](auto&, int) { return answer(200, "{]\n"); });
  auto watch = loop_.run(kube.watch(api::pods(), {}));
  ASSERT_TRUE(watch);
  EXPECT_EQ(loop_.run((*watch)->next()).error().code, ErrorCode::Gone);
}

TEST_F(KubeClientTest, AnObjectWithoutNameOrNamespaceIsNotSent) {
  auto& kube = cluster([](auto&, int) { return answer(200, kPod); });
  EXPECT_EQ(loop_.run(kube.remove(api::pods(), {"t", ""}, {})).error().code, ErrorCode::BadRequest);
  EXPECT_EQ(loop_.run(kube.get(api::pods(), {"", "p"})).error().code, ErrorCode::BadRequest);
  EXPECT_TRUE(transport_->requests.empty());
}

TEST(RetryDelay, GrowsIsJitteredAndEnds) {
  SeededRng rng(3);
  const Error busy{.code = ErrorCode::TooManyRequests};
  const auto first = retry_delay(Effect::Writes, busy, true, 0, 0s, rng);
  const auto later = retry_delay(Effect::Writes, busy, true, 5, 0s, rng);
  ASSERT_TRUE(first && later);
  EXPECT_GE(*first, 50ms);
  EXPECT_LE(*first, 100ms);
  EXPECT_GE(*later, 1600ms);
  EXPECT_FALSE(retry_delay(Effect::Writes, busy, true, 0, 45s, rng));
  for (const auto code :
       {ErrorCode::Conflict, ErrorCode::Internal, ErrorCode::Forbidden, ErrorCode::Timeout}) {
    EXPECT_FALSE(retry_delay(Effect::Reads, {.code = code}, true, 0, 0s, rng));
  }
  EXPECT_FALSE(retry_delay(Effect::Reads, {.code = ErrorCode::Cancelled}, false, 0, 0s, rng));
}

TEST(AdaptiveLimit, GrowsUnderLoadShrinksOnLatencyAndRefusals) {
  AdaptiveLimit limit({});
  Monotonic now{};
  const auto round = [&](Duration latency, bool saturated, int answers) {
    for (int i = 0; i < answers; ++i) {
      limit.record({.latency = latency, .saturated = saturated, .now = now});
      now = now + 1ms;
    }
  };
  round(1ms, false, 1000);
  EXPECT_EQ(limit.limit(), 64);  // nobody waited: no reason to grow
  round(10ms, true, 5000);
  EXPECT_GT(limit.limit(), 64);
  round(10ms, true, 50000);
  EXPECT_EQ(limit.limit(), 256);
  round(40ms, true, 2000);
  EXPECT_LT(limit.limit(), 256);
  round(4s, true, 20000);
  EXPECT_GE(limit.limit(), 16);
  const int before = limit.limit();
  for (int i = 0; i < 20; ++i) limit.record({.latency = 50ms, .refused = true, .now = now});
  EXPECT_EQ(limit.limit(), before / 2);  // one round trip, one cut
  for (int i = 0; i < 20; ++i)
    limit.record({.latency = 50ms, .refused = true, .now = now = now + 1s});
  EXPECT_EQ(limit.limit(), 1);
}

}  // namespace
}  // namespace muster::cluster::kube
