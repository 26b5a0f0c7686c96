#include <fmt/format.h>

#include "http_support.h"
#include "server/access/gatekeeper.h"

namespace muster::server {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPods = "/api/v1/namespaces/default/pods";

// The API as it is over the network: with tokens.
class GateTest : public HttpFrontTest {
 protected:
  Gatekeeper gate_{core(), Secret("owner-token"), Logger()};
  HttpFront guarded_{core(), rng_, &gate_};
  int roles_ = 0;

  net::HttpResponse ask(const std::string& method, const std::string& target,
                        const std::string& token, std::string body = "",
                        net::Headers headers = {}) {
    Recorder recorder(loop_);
    if (!token.empty()) headers.set("Authorization", "Bearer " + token);
    headers.set("Content-Type", "application/json");
    const net::HttpRequest request{
        .method = method, .target = target, .headers = std::move(headers), .body = std::move(body)};
    loop_.run(guarded_.handle(request, recorder));
    return recorder.answer;
  }
  int status(const std::string& token, const std::string& target = kPods) {
    return ask("GET", target, token).status;
  }
  std::string token_for(const std::string& pod_name, std::int64_t seconds = 3600) {
    TokenRequest request{.expiration_seconds = seconds, .pod_name = pod_name};
    auto made =
        loop_.run(core().create_token({.ns = "default", .name = "default"}, std::move(request)));
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->value : "";
  }
  // What examples/rbac gives: reading pods.
  void grant(const char* verbs = R"(["get","list","watch"])") {
    make(api::roles(),
         parse(fmt::format(R"({{"metadata":{{"name":"r","namespace":"default"}},"rules":
             [{{"apiGroups":[""],"resources":["pods"],"verbs":{}}}]}})",
                           verbs)));
    make(api::role_bindings(), parse(R"({"metadata":{"name":"b","namespace":"default"},
             "roleRef":{"kind":"Role","name":"r"},
             "subjects":[{"kind":"ServiceAccount","name":"default","namespace":"default"}]})"));
  }
};

TEST_F(GateTest, WithoutATokenNothingIsServed) {
  for (const char* target : {kPods, "/", "/version", "/healthz", "/apis", "/metrics", "/nothing"}) {
    const auto answer = ask("GET", target, "");
    EXPECT_EQ(answer.status, 401) << target;
    const auto body = seen(answer.body);
    EXPECT_EQ(body["message"].as_string(), "Unauthorized");
    EXPECT_EQ(body["reason"].as_string(), "Unauthorized");
    EXPECT_EQ(body["code"].as_int(), 401);
  }
  EXPECT_EQ(ask("GET", kPods, "", "", {{"Authorization", "Basic b3duZXI6eA=="}}).status, 401);
  EXPECT_EQ(ask("GET", kPods, "", "", {{"Authorization", "Bearer "}}).status, 401);
  EXPECT_EQ(status("owner-tokem"), 401);
  EXPECT_EQ(status("owner-token-and-more"), 401);
}

// 403 or what comes after the gate: there is no such pod, or it is no WebSocket.
TEST_F(GateTest, AProgramIsStartedByWhoMayCreateOneThoughItIsAskedForWithGet) {
  const std::string exec = fmt::format("{}/a/exec?command=ls&stdout=true", kPods);
  const auto may = [&](const char* verbs) {
    make(api::roles(),
         parse(fmt::format(R"({{"metadata":{{"name":"r{}","namespace":"default"}},"rules":
             [{{"apiGroups":[""],"resources":["pods/exec"],"verbs":{}}}]}})",
                           roles_, verbs)));
    make(api::role_bindings(),
         parse(fmt::format(R"({{"metadata":{{"name":"b{}","namespace":"default"}},
             "roleRef":{{"kind":"Role","name":"r{}"}},
             "subjects":[{{"kind":"ServiceAccount","name":"default","namespace":"default"}}]}})",
                           roles_, roles_)));
    ++roles_;
  };
  ASSERT_EQ(ask("POST", kPods, "owner-token", json::write(pod("a"))).status, 201);
  const auto token = token_for("a");
  EXPECT_EQ(ask("GET", exec, token).status, 403);
  may(R"(["get"])");
  const auto refused = ask("GET", exec, token);
  EXPECT_EQ(refused.status, 403);
  EXPECT_TRUE(
      seen(refused.body)["message"].as_string().contains("cannot create resource \"pods/exec\""))
      << refused.body;
  EXPECT_EQ(ask("POST", exec, token).status, 403);
  may(R"(["create"])");
  EXPECT_EQ(ask("GET", exec, token).status, 400) << "let in";
  EXPECT_EQ(ask("POST", exec, token).status, 400) << "let in";
}

TEST_F(GateTest, TheOwnersTokenMayDoEverything) {
  EXPECT_EQ(ask("POST", kPods, "owner-token", json::write(pod("a"))).status, 201);
  EXPECT_EQ(status("owner-token", "/api/v1/nodes"), 200);
  EXPECT_EQ(ask("DELETE", fmt::format("{}/a", kPods), "owner-token").status, 200);
  EXPECT_EQ(ask("GET", kPods, "", "", {{"Authorization", "bearer  owner-token"}}).status, 200);
}

TEST_F(GateTest, APodMayDoWhatItsAccountWasGrantedAndNothingElse) {
  make(api::pods(), pod("a"));
  const auto token = token_for("a");
  const auto refused = ask("GET", kPods, token);
  EXPECT_EQ(refused.status, 403);
  const auto body = seen(refused.body);
  EXPECT_EQ(body["reason"].as_string(), "Forbidden");
  EXPECT_EQ(body["details"]["kind"].as_string(), "pods");
  EXPECT_EQ(
      body["message"].as_string(),
      "pods is forbidden: User \"system:serviceaccount:default:default\" cannot list resource "
      "\"pods\" in API group \"\" in the namespace \"default\"");
  EXPECT_EQ(status(token, "/api/v1"), 200) << "what there is, everybody may know";
  grant();
  EXPECT_EQ(status(token), 200);
  EXPECT_EQ(status(token, fmt::format("{}/a", kPods)), 200);
  EXPECT_EQ(status(token, "/api/v1/pods"), 403);
  EXPECT_EQ(status(token, "/api/v1/namespaces/default/secrets"), 403);
  EXPECT_EQ(ask("DELETE", fmt::format("{}/a", kPods), token).status, 403);
  EXPECT_EQ(ask("POST", kPods, token, json::write(pod("b"))).status, 403);
  EXPECT_TRUE(remove(api::role_bindings(), "b"));
  EXPECT_EQ(status(token), 403);
}

TEST_F(GateTest, ATokenEndsWithItsTimeItsPodAndItsAccount) {
  grant();
  make(api::pods(), pod("a"));
  const auto token = token_for("a", 600);
  EXPECT_EQ(status(token), 200);
  loop_.run_for(599s);
  EXPECT_EQ(status(token), 200);
  loop_.run_for(2s);
  EXPECT_EQ(status(token), 401);

  const auto of_pod = token_for("a");
  EXPECT_EQ(status(of_pod), 200);
  EXPECT_TRUE(remove(api::pods(), "a", {.grace_seconds = 0}));
  EXPECT_EQ(status(of_pod), 401);
  make(api::pods(), pod("a"));
  EXPECT_EQ(status(of_pod), 401) << "another pod of the same name";

  const auto of_account = token_for("a");
  EXPECT_EQ(status(of_account), 200);
  EXPECT_TRUE(remove(api::service_accounts(), "default"));
  EXPECT_EQ(status(of_account), 401);
  settle();
  EXPECT_TRUE(exists(api::service_accounts(), "default")) << "every namespace has one";
  EXPECT_EQ(status(of_account), 401) << "another account of the same name";
}

TEST_F(GateTest, ATokenForSomebodyElseIsNotForUs) {
  grant();
  make(api::pods(), pod("a"));
  TokenRequest request{.audiences = {"vault"}, .pod_name = "a"};
  const auto made = loop_.run(core().create_token({.ns = "default", .name = "default"}, request));
  EXPECT_EQ(status(made->value), 401);
}

TEST_F(GateTest, TokensAreBoundToPodsOfTheirAccountOnly) {
  make(api::pods(), pod("a"));
  make(api::service_accounts(), parse(R"({"metadata":{"name":"other","namespace":"default"}})"));
  const auto made =
      loop_.run(core().create_token({.ns = "default", .name = "other"}, {.pod_name = "a"}));
  EXPECT_EQ(made.error().message,
            "cannot bind a token of service account other to pod a, which runs as default");
}

TEST_F(GateTest, NobodyGrantsHimselfMore) {
  make(api::cluster_roles(), parse(R"({"metadata":{"name":"roles"},"rules":[{"apiGroups":
      ["rbac.authorization.k8s.io"],"resources":["*"],"verbs":["create","update","patch"]}]})"));
  make(api::cluster_role_bindings(), parse(R"({"metadata":{"name":"roles"},
      "roleRef":{"kind":"ClusterRole","name":"roles"},
      "subjects":[{"kind":"ServiceAccount","name":"default","namespace":"default"}]})"));
  make(api::pods(), pod("a"));
  const auto token = token_for("a");
  const std::string base = "/apis/rbac.authorization.k8s.io/v1/";
  const char* role =
      R"({"metadata":{"name":"all"},"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]})";
  const auto refused = ask("POST", base + "clusterroles", token, role);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(
      seen(refused.body)["message"].as_string(),
      "clusterroles.rbac.authorization.k8s.io is forbidden: User "
      "\"system:serviceaccount:default:default\" cannot escalate resource \"clusterroles\" in "
      "API group \"rbac.authorization.k8s.io\" at the cluster scope");
  EXPECT_EQ(ask("POST", base + "namespaces/default/rolebindings", token, "{}").status, 403);
  EXPECT_EQ(ask("POST", base + "clusterroles", "owner-token", role).status, 201);
}

TEST_F(GateTest, NobodyActsAsSomebodyElse) {
  EXPECT_EQ(ask("GET", kPods, "owner-token", "", {{"Impersonate-User", "x"}}).status, 403);
}

TEST_F(GateTest, RolesThatCouldNotMeanAnythingAreRefused) {
  const auto wrong = [this](const api::Resource& resource, const char* text) {
    const auto made = create(resource, parse(text));
    return made ? "stored" : made.error().message;
  };
  EXPECT_EQ(wrong(api::roles(),
                  R"({"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods"]}]})"),
            "Role \"r\" is invalid: rules[0].verbs: Required value");
  EXPECT_NE(
      wrong(api::roles(),
            R"({"metadata":{"name":"r"},"rules":[{"nonResourceURLs":["/x"],"verbs":["get"]}]})")
          .find("namespaced rules cannot apply to non-resource URLs"),
      std::string::npos);
  EXPECT_NE(
      wrong(api::role_bindings(), R"({"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"r"},
      "subjects":[{"kind":"ServiceAccount","name":"default"}]})")
          .find("subjects[0].namespace: Required value"),
      std::string::npos);
  EXPECT_NE(wrong(api::cluster_role_bindings(),
                  R"({"metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"r"}})")
                .find("must be ClusterRole"),
            std::string::npos);
  grant();
  auto binding = json::Value(**get(api::role_bindings(), "b"));
  binding["roleRef"]["name"] = "another";
  EXPECT_NE(update(api::role_bindings(), binding).error().message.find("cannot change roleRef"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::server
