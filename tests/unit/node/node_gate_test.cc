#include "node/access/node_gate.h"

#include "unit/node/fake_responder.h"
#include "unit/node/fixture.h"

namespace muster::node {
namespace {

// Says that it was reached.
class Inner final : public net::HttpHandler {
 public:
  Task<void> handle(const net::HttpRequest&, net::Responder& responder) override {
    [[maybe_unused]] const auto sent = co_await responder.respond({.body = "reached"});
  }
};

// A node's door with an API behind it that keeps what it was asked.
class NodeGateTest : public NodeTest {
 protected:
  NodeGateTest() {
    cluster.reviewed = [this](const api::Resource& resource,
                              const json::Value& review) -> Result<json::Value> {
      asked.push_back(json::write(review["spec"]));
      if (unreachable) return fail(ErrorCode::Unavailable, "no API");
      if (resource.kind == "TokenReview") {
        const bool good = review["spec"]["token"].as_string() == "good";
        return parse(good ? R"({"status":{"authenticated":true,"user":{"username":"bob","uid":"u1",
                                 "groups":["team"],"extra":{"scopes":["all"]}}}})"
                          : R"({"status":{"authenticated":false}})");
      }
      return json::Value(json::Object{{"status", json::Object{{"allowed", allowed}}}});
    };
  }

  std::unique_ptr<FakeResponder> ask(net::Headers headers, net::Peer from = {},
                                     std::string method = "GET",
                                     std::string target = "/exec/default/p/main?command=ls") {
    asked.clear();
    auto responder = std::make_unique<FakeResponder>();
    responder->from = std::move(from);
    const net::HttpRequest request{
        .method = std::move(method), .target = std::move(target), .headers = std::move(headers)};
    loop.run(gate.handle(request, *responder));
    return responder;
  }

  Inner inner;
  NodeGate gate{cluster, "n1", inner, Logger()};
  std::vector<std::string> asked;
  bool allowed = true;
  bool unreachable = false;
};

using Asked = std::vector<std::string>;

TEST_F(NodeGateTest, ACertificateThatTlsVerifiedIsAskedForItsRightsOnly) {
  const auto answer = ask({}, {.common_name = "apiserver", .organizations = {"ops"}}, "POST");
  EXPECT_EQ(answer->body, "reached");
  EXPECT_EQ(asked,
            Asked{R"({"user":"apiserver","groups":["ops","system:authenticated"],)"
                  R"("resourceAttributes":{"verb":"create","version":"v1","resource":"nodes",)"
                  R"("subresource":"proxy","name":"n1"}})"});
}

TEST_F(NodeGateTest, ATokenIsReviewedFirst) {
  const auto answer = ask({{"Authorization", "Bearer good"}});
  EXPECT_EQ(answer->body, "reached");
  EXPECT_EQ(asked, (Asked{R"({"token":"good"})",
                          R"({"user":"bob","groups":["team"],"resourceAttributes":{"verb":"get",)"
                          R"("version":"v1","resource":"nodes","subresource":"proxy","name":"n1"},)"
                          R"("uid":"u1","extra":{"scopes":["all"]}})"}));
}

TEST_F(NodeGateTest, WhoIsNobodyIsRefusedWithoutAQuestionAboutRights) {
  for (const auto& headers : {net::Headers{}, net::Headers{{"Authorization", "Basic good"}},
                              net::Headers{{"Authorization", "Bearer "}}}) {
    EXPECT_EQ(ask(headers)->status, 401);
    EXPECT_TRUE(asked.empty());
  }
  EXPECT_EQ(ask({{"Authorization", "Bearer bad"}})->status, 401);
  EXPECT_EQ(asked.size(), 1U);
}

TEST_F(NodeGateTest, WhoMayNotIsToldWhatHeMayNot) {
  allowed = false;
  const auto answer = ask({{"Authorization", "Bearer good"}});
  EXPECT_EQ(answer->status, 403);
  EXPECT_EQ(answer->body,
            "Forbidden (user=bob, verb=get, resource=nodes, subresource(s)=[proxy])\n");
}

TEST_F(NodeGateTest, WhatCannotBeFoundOutIsRefused) {
  unreachable = true;
  EXPECT_EQ(ask({{"Authorization", "Bearer good"}})->status, 401);
  EXPECT_EQ(ask({}, {.common_name = "apiserver"})->status, 500);
}

TEST_F(NodeGateTest, MetricsAreARightOfTheirOwn) {
  EXPECT_EQ(node_action({.target = "/metrics?x"}).subresource, "metrics");
  EXPECT_EQ(node_action({.target = "/metrics/../exec"}).subresource, "proxy");
  EXPECT_EQ(node_action({.target = "/containerLogs/a/b/c"}).subresource, "proxy");
}

}  // namespace
}  // namespace muster::node
