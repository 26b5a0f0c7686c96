#include <gtest/gtest.h>

#include <fmt/format.h>

#include "http2_peer.h"
#include "net/http_client.h"
#include "support.h"

namespace muster::net {
namespace {

using namespace std::chrono_literals;
using testing::Certificates;
using testing::Http2Peer;

class Http2ClientTest : public ::testing::Test {
 protected:
  ~Http2ClientTest() override {
    if (http_) loop_.run(http_->close());
    if (peer_) loop_.run(peer_->close());
  }

  void serve(Http2Peer::Options options = {}) {
    const auto context = TlsContext::server({.identity = all_.server, .protocols = {"h2"}}).value();
    peer_ =
        std::make_unique<Http2Peer>(loop_, listen_tcp(loop_, {.tls = context}).value(), options);
  }
  void connect(HttpClientOptions options = {}) {
    const auto context = TlsContext::client({.ca_pem = all_.ca.certificate_pem}).value();
    http_ = std::make_unique<HttpClient>(
        loop_,
        tcp_connector(loop_, pool_, {.host = "127.0.0.1", .port = peer_->port(), .tls = context}),
        options);
  }

  // Runs until the condition holds.
  Task<void> until(std::function<bool()> condition) {
    for (int i = 0; i < 10'000 && !condition(); ++i) {
      [[maybe_unused]] const auto slept = co_await rt::sleep_for(loop_, 1ms);
    }
    EXPECT_TRUE(condition());
  }

  Certificates all_ = Certificates::make();
  rt::RealLoop loop_;
  rt::Pool pool_{1};
  std::unique_ptr<Http2Peer> peer_;
  std::unique_ptr<HttpClient> http_;
};

Task<void> send_into(HttpClient& http, HttpRequest request,
                     std::vector<Result<HttpResponse>>& out) {
  auto response = co_await http.send(std::move(request));
  out.push_back(std::move(response));
}

TEST_F(Http2ClientTest, KeepsToTheServersStreamLimitAndOpensAnotherConnection) {
  serve({.max_streams = 10});
  connect({.http2_connections = 2});
  std::vector<Result<HttpResponse>> out;
  rt::TaskScope scope(loop_);
  for (int i = 0; i < 100; ++i)
    scope.spawn(send_into(*http_, {.method = "POST", .target = "/hold", .body = "b"}, out));
  // The server tells its limit only after the first requests are on their way; nghttp2 assumes 100
  // until then.
  loop_.run(until([&] { return peer_->requests >= 10; }));
  for (int i = 0; i < 50; ++i)
    scope.spawn(send_into(*http_, {.method = "POST", .target = "/hold", .body = "b"}, out));
  loop_.run(until([&] { return peer_->accepted() == 2; }));
  peer_->release();
  loop_.run(scope.join());
  EXPECT_EQ(out.size(), 150U);
  for (const auto& response : out) EXPECT_EQ(response.value().body, "k");
  EXPECT_EQ(peer_->accepted(), 2U);
}

Task<Result<std::unique_ptr<ResponseStream>>> opened(HttpClient& http, std::string target) {
  return http.open({.target = std::move(target)});
}

TEST_F(Http2ClientTest, ASlowStreamIsHeldBackAndHoldsNobodyElse) {
  serve();
  connect({.stream_window = 1U << 20U, .connection_window = 2U << 20U});
  auto slow = loop_.run(opened(*http_, "/flood")).value();
  loop_.run(until([&] { return peer_->flooded >= 1U << 20U; }));
  for (int i = 0; i < 200; ++i) ASSERT_EQ(loop_.run(http_->send({})).value().body, "k");
  EXPECT_LE(peer_->flooded, 1U << 20U);
  // A second slow one fills its own window although the first took its share of the connection's.
  auto second = loop_.run(opened(*http_, "/flood")).value();
  loop_.run(until([&] { return peer_->flooded >= 2U << 20U; }));
  std::size_t taken = 0;
  while (taken < 5U << 20U) taken += loop_.run(slow->next()).value()->size();
  EXPECT_LE(peer_->flooded, taken + (2U << 20U));
  slow.reset();
  loop_.run(until([&] { return peer_->resets == 1; }));
  EXPECT_EQ(peer_->accepted(), 1U);
}

TEST_F(Http2ClientTest, ASilentPeerIsFoundOutByPing) {
  serve();
  connect({.ping_interval = 30ms, .ping_deadline = 30ms});
  auto stream = loop_.run(opened(*http_, "/silent")).value();
  // While it answers pings, the stream may be silent for as long as it likes.
  EXPECT_EQ(loop_.run(rt::with_timeout(loop_, 200ms, stream->next())).error().code,
            ErrorCode::Timeout);
  EXPECT_EQ(peer_->accepted(), 1U);
  peer_->mute = true;
  const auto dead = loop_.run(rt::with_timeout(loop_, 10s, stream->next()));
  EXPECT_EQ(dead.error().code, ErrorCode::Unavailable);
  EXPECT_NE(dead.error().message.find("ping"), std::string::npos) << dead.error().message;
}

TEST_F(Http2ClientTest, AfterGoawayOldStreamsFinishAndNewOnesGoElsewhere) {
  serve();
  connect();
  std::vector<Result<HttpResponse>> out;
  rt::TaskScope scope(loop_);
  for (int i = 0; i < 3; ++i) scope.spawn(send_into(*http_, {.target = "/hold"}, out));
  loop_.run(until([&] { return peer_->requests == 3; }));
  // The third (stream 5) is said not to have been looked at: it must be sent again on a new
  // connection.
  peer_->goaway(3);
  loop_.run(until([&] { return peer_->accepted() == 2 && peer_->requests == 4; }));
  EXPECT_EQ(loop_.run(http_->send({})).value().body, "k");
  peer_->release();
  loop_.run(scope.join());
  for (const auto& response : out) EXPECT_EQ(response.value().body, "k");
  EXPECT_EQ(out.size(), 3U);
  EXPECT_EQ(peer_->accepted(), 2U);
}

TEST_F(Http2ClientTest, RenewedConnectionsTakeWhatComesNextAndOldOnesFinish) {
  serve();
  connect();
  std::vector<Result<HttpResponse>> out;
  rt::TaskScope scope(loop_);
  scope.spawn(send_into(*http_, {.target = "/hold"}, out));
  loop_.run(until([&] { return peer_->requests == 1; }));
  http_->renew_connections();
  EXPECT_EQ(loop_.run(http_->send({})).value().body, "k");
  EXPECT_EQ(peer_->accepted(), 2U);
  EXPECT_EQ(peer_->ended, 0U) << "somebody waits for an answer on the old one";
  peer_->release();
  loop_.run(scope.join());
  EXPECT_EQ(out.at(0).value().body, "k");
  loop_.run(until([&] { return peer_->ended == 1; }));
  http_->renew_connections();  // idle: ends at once
  loop_.run(until([&] { return peer_->ended == 2; }));
}

TEST_F(Http2ClientTest, RequestsThatWaitedForAStreamSurviveGoaway) {
  serve({.max_streams = 2});
  connect({.http2_connections = 1});
  EXPECT_TRUE(loop_.run(http_->send({})).has_value());  // the limit is known from here on
  std::vector<Result<HttpResponse>> out;
  rt::TaskScope scope(loop_);
  for (int i = 0; i < 6; ++i)
    scope.spawn(send_into(*http_, {.method = "POST", .target = "/hold", .body = "b"}, out));
  loop_.run(until([&] { return peer_->requests == 3; }));
  EXPECT_EQ(peer_->most_streams, 2U);
  peer_->goaway(5);
  loop_.run(until([&] { return peer_->requests == 5; }));
  peer_->release();
  loop_.run(scope.join());
  EXPECT_EQ(out.size(), 6U);
  for (const auto& response : out) EXPECT_EQ(response.value().body, "k");
  EXPECT_EQ(peer_->requests, 7U);  // none was sent twice
}

TEST_F(Http2ClientTest, ARequestThatWaitsForAStreamCanBeCancelled) {
  serve({.max_streams = 1});
  connect({.http2_connections = 1});
  EXPECT_TRUE(loop_.run(http_->send({})).has_value());
  std::vector<Result<HttpResponse>> out;
  rt::TaskScope scope(loop_);
  scope.spawn(send_into(*http_, {.target = "/hold"}, out));
  loop_.run(until([&] { return peer_->requests == 2; }));
  const auto late =
      loop_.run(rt::with_timeout(loop_, 5ms, http_->send({.method = "POST", .body = "b"})));
  EXPECT_EQ(late.error().code, ErrorCode::Timeout);
  peer_->release();
  EXPECT_EQ(loop_.run(http_->send({})).value().body, "k");
  loop_.run(scope.join());
  EXPECT_EQ(out.at(0).value().body, "k");
  EXPECT_EQ(peer_->requests, 3U);
}

TEST_F(Http2ClientTest, ABrokenConnectionFailsEveryRequestOnIt) {
  serve();
  connect();
  std::vector<Result<HttpResponse>> out;
  rt::TaskScope scope(loop_);
  for (int i = 0; i < 3; ++i)
    scope.spawn(send_into(*http_, {.method = "POST", .target = "/hold", .body = "b"}, out));
  loop_.run(until([&] { return peer_->requests == 3; }));
  loop_.run(peer_->close());
  loop_.run(scope.join());
  ASSERT_EQ(out.size(), 3U);
  for (const auto& response : out) {
    EXPECT_EQ(response.error().code, ErrorCode::Unavailable);
    EXPECT_NE(response.error().message.find("https://127.0.0.1:"), std::string::npos)
        << response.error().message;
  }
}

TEST_F(Http2ClientTest, CancellingARequestResetsItsStreamOnly) {
  serve();
  connect();
  EXPECT_TRUE(loop_.run(http_->send({})).has_value());
  const auto before = testing::open_descriptors();
  for (int i = 0; i < 10; ++i) {
    const auto late = loop_.run(rt::with_timeout(loop_, 2ms, http_->send({.target = "/hold"})));
    EXPECT_EQ(late.error().code, ErrorCode::Timeout);
  }
  loop_.run(until([&] { return peer_->resets == 10; }));
  EXPECT_TRUE(loop_.run(http_->send({})).has_value());
  EXPECT_EQ(testing::open_descriptors(), before);
  EXPECT_EQ(peer_->accepted(), 1U);
}

TEST_F(Http2ClientTest, BoundsWhatTheServerSends) {
  serve();
  connect({.max_body_bytes = 100'000});
  EXPECT_EQ(loop_.run(http_->send({.target = "/flood"})).error().code, ErrorCode::TooLarge);
  const auto head = loop_.run(http_->send({.target = "/big-head"}));
  EXPECT_EQ(head.error().code, ErrorCode::TooLarge);
  EXPECT_EQ(loop_.run(http_->send({.target = "/refuse"})).error().code, ErrorCode::Unavailable);
  EXPECT_TRUE(loop_.run(http_->send({})).has_value());
}

TEST_F(Http2ClientTest, CloseEndsWhatIsInFlight) {
  serve();
  connect();
  std::vector<Result<HttpResponse>> out;
  rt::TaskScope scope(loop_);
  scope.spawn(send_into(*http_, {.target = "/hold"}, out));
  auto stream = loop_.run(opened(*http_, "/silent")).value();
  loop_.run(until([&] { return peer_->requests == 2; }));
  loop_.run(http_->close());
  http_.reset();
  loop_.run(scope.join());
  EXPECT_EQ(out.at(0).error().code, ErrorCode::Unavailable);
  EXPECT_EQ(loop_.run(stream->next()).error().code, ErrorCode::Unavailable);
}

}  // namespace
}  // namespace muster::net
