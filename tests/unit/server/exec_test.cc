#include <fmt/format.h>

#include "http_support.h"

namespace muster::server {
namespace {

// pods/exec up to the moment at which a connection would become a WebSocket.
class ExecFrontTest : public HttpFrontTest {
 protected:
  void run_pod(const std::string& name) {
    make(api::pods(), pod(name));
    json::Value object = get_json(fmt::format("{}/{}", kPods, name));
    object["status"]["phase"] = "Running";
    object["status"]["containerStatuses"] = json::Array{
        json::Object{{"name", object["spec"]["containers"].array().front()["name"].as_string()},
                     {"state", json::Object{{"running", json::Object{}}}}}};
    EXPECT_EQ(call("PUT", fmt::format("{}/{}/status", kPods, name), json::write(object)).status,
              200);
  }
  std::string ask(const std::string& name, const std::string& query, net::Headers headers = {},
                  const std::string& method = "GET") {
    const auto answer =
        call(method, fmt::format("{}/{}/exec?{}", kPods, name, query), "", std::move(headers));
    return fmt::format("{} {}", answer.status, seen(answer.body)["message"].as_string());
  }

  static constexpr const char* kPods = "/api/v1/namespaces/default/pods";
  const net::Headers spdy{{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}};
  const net::Headers web_socket{{"Connection", "Upgrade"},
                                {"Upgrade", "websocket"},
                                {"Sec-WebSocket-Version", "13"},
                                {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                                {"Sec-WebSocket-Protocol", "v5.channel.k8s.io"}};
};

// Asked over SPDY, too: kubectl shows the answer to that.
TEST_F(ExecFrontTest, WhatIsWrongWithTheRequestComesFirst) {
  make(api::pods(), pod("waits"));
  run_pod("runs");
  for (const auto& headers : {web_socket, spdy}) {
    EXPECT_EQ(ask("none", "command=ls&stdout=1", headers), R"(404 pods "none" not found)");
    EXPECT_TRUE(
        ask("waits", "command=ls&stdout=1", headers).contains("is not running: not started"));
    EXPECT_TRUE(ask("runs", "command=ls&stdout=1&container=x", headers)
                    .contains("400 container x is not valid for pod runs"));
    EXPECT_EQ(ask("runs", "stdout=1", headers),
              "400 you must specify at least one command to execute");
  }
}

TEST_F(ExecFrontTest, SaysWhyAnUpgradeIsRefused) {
  run_pod("runs");
  EXPECT_EQ(ask("runs", "command=ls&stdout=1"), "400 Upgrade request required");
  EXPECT_TRUE(ask("runs", "command=ls&stdout=1", spdy, "POST")
                  .contains("over WebSocket only, not over SPDY: use kubectl 1.31 or newer"));
  auto other = web_socket;
  other.set("Sec-WebSocket-Protocol", "channel.k8s.io");
  EXPECT_TRUE(ask("runs", "command=ls&stdout=1", other).contains("v5.channel.k8s.io"));
  EXPECT_EQ(ask("runs", "command=ls&stdout=1", web_socket),
            "503 no node of this server runs programs");
  EXPECT_EQ(call("DELETE", fmt::format("{}/runs/exec", kPods)).status, 405);
}

}  // namespace
}  // namespace muster::server
