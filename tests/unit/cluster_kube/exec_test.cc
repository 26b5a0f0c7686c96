#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "cluster/kube/config/kubeconfig.h"
#include "cluster/kube/kube_cluster.h"
#include "json/read.h"
#include "memory_files.h"
#include "rt/scope.h"
#include "rt/sim_loop.h"
#include "scripted_runner.h"
#include "scripted_transport.h"

namespace muster::cluster::kube {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// --- the entry of a kubeconfig ---

class ExecEntry : public ::testing::Test {
 protected:
  Result<ClientConfig> load(const std::string& exec, const std::string& cluster = "",
                            const std::string& user = "") {
    files_.files["/home/me/config"] = fmt::format(
        "current-context: c\n"
        "clusters:\n- name: k\n  cluster: {{server: 'https://h:6443'{}}}\n"
        "users:\n- name: u\n  user: {{exec: {}{}}}\n"
        "contexts:\n- name: c\n  context: {{cluster: k, user: u}}\n",
        cluster, exec, user);
    return load_kubeconfig({.paths = {"/home/me/config"}}, files_);
  }
  std::string error_of(const std::string& exec) {
    const auto config = load(exec);
    return config ? "" : config.error().message;
  }
  static std::string v1(const std::string& rest) {
    return fmt::format("{{apiVersion: {}, {}}}", kExecV1, rest);
  }

  MemoryFiles files_;
};

TEST_F(ExecEntry, SaysWhatToRun) {
  const auto config =
      load(v1("command: aws, args: [eks, get-token, --x, ''], env: [{name: A, value: b}, "
              "{name: C, value: ''}], interactiveMode: Never, installHint: get it"));
  ASSERT_TRUE(config) << config.error().message;
  const ExecPlugin& plugin = config->exec.value();
  EXPECT_EQ(plugin.command, "aws");
  EXPECT_THAT(plugin.arguments, ElementsAre("eks", "get-token", "--x", ""));
  EXPECT_THAT(plugin.environment, ElementsAre(std::pair("A", "b"), std::pair("C", "")));
  EXPECT_EQ(plugin.input, PluginInput::Never);
  EXPECT_EQ(plugin.install_hint, "get it");
  EXPECT_TRUE(plugin.cluster.is_null());
}

TEST_F(ExecEntry, APathIsRelativeToTheKubeconfigANameIsNot) {
  const auto command = [&](const std::string& name) {
    return load(v1("interactiveMode: Never, command: " + name)).value().exec->command;
  };
  EXPECT_EQ(command("bin/login"), "/home/me/bin/login");
  EXPECT_EQ(command("./login"), "/home/me/./login");
  EXPECT_EQ(command("/opt/login"), "/opt/login");
  EXPECT_EQ(command("login"), "login");
}

TEST_F(ExecEntry, TheOlderVersionNeedNotSayWhetherItAsks) {
  const auto older =
      load("{apiVersion: client.authentication.k8s.io/v1beta1, command: gke-gcloud-auth-plugin}");
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_EQ(older->exec->input, PluginInput::IfAvailable);
  EXPECT_THAT(error_of(v1("command: a")),
              AllOf(HasSubstr("/home/me/config: user \"u\": exec: interactiveMode is missing"),
                    HasSubstr("Never, IfAvailable or Always")));
}

TEST_F(ExecEntry, ErrorsSayWhatWouldBeRight) {
  EXPECT_THAT(error_of("{apiVersion: client.authentication.k8s.io/v1alpha1, command: a}"),
              AllOf(HasSubstr("apiVersion is \"client.authentication.k8s.io/v1alpha1\""),
                    HasSubstr("v1beta1")));
  EXPECT_THAT(error_of("{command: a}"), HasSubstr("apiVersion is missing"));
  EXPECT_THAT(error_of(v1("interactiveMode: Never")), HasSubstr("command is missing"));
  EXPECT_THAT(error_of(v1("command: a, interactiveMode: Never, args: [1]")),
              HasSubstr("args[0] is"));
  EXPECT_THAT(error_of(v1("command: a, interactiveMode: Never, env: [{name: 'a=b'}]")),
              HasSubstr("env[0]"));
  EXPECT_THAT(error_of("7"), HasSubstr("exec is"));
}

TEST_F(ExecEntry, AWrittenTokenNeedsNoPlugin) {
  const auto config = load(v1("command: a, interactiveMode: Never"), "", ", token: t");
  ASSERT_TRUE(config);
  EXPECT_FALSE(config->exec);
}

TEST_F(ExecEntry, ThePluginIsToldOfTheClusterWhenItWantsThat) {
  const auto config = load(
      v1("command: a, interactiveMode: IfAvailable, provideClusterInfo: true"),
      ", tls-server-name: name.example, certificate-authority-data: LS0tLS1CRUdJTiBY, extensions: "
      "[{name: client.authentication.k8s.io/exec, extension: {audience: z}}]");
  ASSERT_TRUE(config) << config.error().message;
  const auto info = json::read(exec_info(*config->exec, Terminal::Present)).value();
  EXPECT_EQ(info["kind"].as_string(), "ExecCredential");
  EXPECT_EQ(info["apiVersion"].as_string(), kExecV1);
  EXPECT_EQ(info["spec"]["interactive"], json::Value(true));
  const json::Value& cluster = info["spec"]["cluster"];
  EXPECT_EQ(cluster["server"].as_string(), "https://h:6443");
  EXPECT_EQ(cluster["tls-server-name"].as_string(), "name.example");
  EXPECT_EQ(cluster["certificate-authority-data"].as_string(), "LS0tLS1CRUdJTiBY");
  EXPECT_EQ(cluster["config"]["audience"].as_string(), "z");
}

// --- what a plugin says ---

class PluginTest : public ::testing::Test {
 protected:
  ScriptedRunner::Script says(std::string status) {
    return [status](int) { return rt::ChildAnswer{.output = exec_credential(status)}; };
  }
  std::shared_ptr<Credentials> credentials(ScriptedRunner::Script script) {
    ClientConfig config;
    config.exec = plugin_;
    return std::make_shared<Credentials>(
        loop_, config, files_, std::make_unique<ScriptedRunner>(loop_, seen_, std::move(script)));
  }
  std::string error_of(ScriptedRunner::Script script) {
    const auto fresh = credentials(std::move(script));
    const auto result = loop_.run(fresh->refresh());
    return result ? "" : result.error().message;
  }
  std::string error_of(const std::string& printed) {
    return error_of([printed](int) { return rt::ChildAnswer{.output = printed}; });
  }
  KubeCluster& cluster(std::shared_ptr<Credentials> credentials, ScriptedTransport::Answer script) {
    auto transport = std::make_unique<ScriptedTransport>(loop_, std::move(script));
    transport_ = transport.get();
    cluster_ = std::make_unique<KubeCluster>(std::make_unique<KubeClient>(
        loop_, std::move(transport), nullptr, std::move(credentials), rng_, KubeClientOptions{}));
    return *cluster_;
  }
  std::string token_of(std::size_t request) const {
    return std::string(
        transport_->requests.at(request).headers.get("authorization").value_or("none"));
  }

  rt::SimLoop loop_{Time{} + 1000000h};
  SeededRng rng_{1};
  MemoryFiles files_;
  ExecPlugin plugin_{.where = "config: user \"me\"",
                     .api_version = kExecV1,
                     .command = "login",
                     .arguments = {"--now"},
                     .environment = {{"PATH", "/changed"}, {"OWN", "1"}},
                     .install_hint = "get it from\nthe shop"};
  ScriptedRunner::Seen seen_;
  ScriptedTransport* transport_ = nullptr;
  std::unique_ptr<KubeCluster> cluster_;
};

constexpr const char* kNode = R"({"kind":"Node","metadata":{"name":"n"}})";

TEST_F(PluginTest, IsRunOnceForManyRequestsWithItsWordsAndEnvironment) {
  seen_.takes = 2s;
  auto& kube = cluster(credentials(says(R"({"token":"t1"})")),
                       [](auto&, int) { return answer(200, kNode); });
  rt::TaskScope scope(loop_);
  const auto get = [](KubeCluster& from) -> Task<void> {
    EXPECT_TRUE(co_await from.get(api::nodes(), {"", "n"}));
  };
  for (int i = 0; i < 20; ++i) scope.spawn(get(kube));
  loop_.run(scope.join());
  EXPECT_EQ(transport_->requests.size(), 20U);
  EXPECT_EQ(token_of(19), "Bearer t1");
  ASSERT_EQ(seen_.runs.size(), 1U);
  const rt::ChildProgram& run = seen_.runs[0];
  EXPECT_THAT(run.words, ElementsAre("login", "--now"));
  EXPECT_THAT(run.environment, ::testing::Contains("PATH=/changed"));
  EXPECT_THAT(run.environment, ::testing::Contains("OWN=1"));
  EXPECT_THAT(run.environment, ::testing::Contains(HasSubstr("KUBERNETES_EXEC_INFO={")));
  EXPECT_EQ(run.input, rt::ChildProgram::Input::None);
  EXPECT_EQ(run.most_output, 1U << 20U);
  loop_.run(kube.close());
}

TEST_F(PluginTest, WhatItSaidIsUsedUntilItExpires) {
  auto& kube = cluster(
      credentials([&](int number) {
        return rt::ChildAnswer{
            .output = exec_credential(fmt::format(R"({{"token":"t{}","expirationTimestamp":"{}"}})",
                                                  number, format_time(loop_.now() + 10min)))};
      }),
      [](auto&, int) { return answer(200, kNode); });
  for (int i = 0; i < 21; ++i) {
    ASSERT_TRUE(loop_.run(kube.get(api::nodes(), {"", "n"})));
    loop_.run_for(1min);
  }
  EXPECT_EQ(seen_.runs.size(), 3U);
  EXPECT_EQ(token_of(9), "Bearer t1");
  EXPECT_EQ(token_of(10), "Bearer t2");
  EXPECT_EQ(token_of(20), "Bearer t3");
  loop_.run(kube.close());
}

TEST_F(PluginTest, ARefusedCredentialIsReplacedOnceAlsoUnderAWrite) {
  auto& kube =
      cluster(credentials([](int number) {
                return rt::ChildAnswer{
                    .output = exec_credential(fmt::format(R"({{"token":"t{}"}})", number))};
              }),
              [](auto& request, int) {
                return request.headers.get("authorization") == "Bearer t1" ? answer(401, "no")
                                                                           : answer(201, kNode);
              });
  json::Value node;
  node["metadata"]["name"] = "n";
  ASSERT_TRUE(loop_.run(kube.create(api::nodes(), node)));
  EXPECT_EQ(seen_.runs.size(), 2U);
  EXPECT_EQ(transport_->requests.size(), 2U);
  loop_.run(kube.close());
}

TEST_F(PluginTest, APluginThatGivesWhatWasRefusedIsNotRunByEveryRequest) {
  auto& kube =
      cluster(credentials(says(R"({"token":"t"})")), [](auto&, int) { return answer(401, "no"); });
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(loop_.run(kube.get(api::nodes(), {"", "n"})).error().code, ErrorCode::Unauthorized);
    loop_.run_for(1s);
  }
  EXPECT_EQ(seen_.runs.size(), 2U);
  loop_.run_for(1min);
  EXPECT_FALSE(loop_.run(kube.get(api::nodes(), {"", "n"})));
  EXPECT_EQ(seen_.runs.size(), 3U);
  loop_.run(kube.close());
}

TEST_F(PluginTest, EverNewCredentialsThatAreAllRefusedEnd) {
  auto& kube = cluster(credentials([](int number) {
                         return rt::ChildAnswer{.output = exec_credential(
                                                    fmt::format(R"({{"token":"t{}"}})", number))};
                       }),
                       [](auto&, int) { return answer(401, "no"); });
  EXPECT_EQ(loop_.run(kube.get(api::nodes(), {"", "n"})).error().code, ErrorCode::Unauthorized);
  EXPECT_EQ(transport_->requests.size(), 2U);
  loop_.run(kube.close());
}

TEST_F(PluginTest, ANewCertificateMeansNewConnections) {
  auto& kube = cluster(
      credentials([](int number) {
        return rt::ChildAnswer{.output = exec_credential(fmt::format(
                                   R"({{"clientCertificateData":"-----BEGIN C{}",)"
                                   R"("clientKeyData":"-----BEGIN K","expirationTimestamp":"{}"}})",
                                   number, "1990-01-01T00:00:00Z"))};
      }),
      [](auto&, int) { return answer(200, kNode); });
  ASSERT_TRUE(loop_.run(kube.get(api::nodes(), {"", "n"})));
  EXPECT_EQ(transport_->renewed, 1);
  ASSERT_TRUE(loop_.run(kube.get(api::nodes(), {"", "n"})));
  EXPECT_EQ(transport_->renewed, 2);
  EXPECT_EQ(token_of(1), "none");
  loop_.run(kube.close());
}

TEST_F(PluginTest, ARequestThatIsGivenUpLeavesTheRunToTheOthers) {
  seen_.takes = 8s;
  auto& kube =
      cluster(credentials(says(R"({"token":"t"})")), [](auto&, int) { return answer(200, kNode); });
  EXPECT_EQ(loop_.run(rt::with_timeout(loop_, 5s, kube.get(api::nodes(), {"", "n"}))).error().code,
            ErrorCode::Timeout);
  EXPECT_TRUE(loop_.run(rt::with_timeout(loop_, 5s, kube.get(api::nodes(), {"", "n"}))));
  EXPECT_EQ(seen_.runs.size(), 1U);
  loop_.run(kube.close());
}

TEST_F(PluginTest, ErrorsAreOneSentenceWithTheEntryTheProgramAndTheHint) {
  EXPECT_EQ(error_of([](int) { return fail(ErrorCode::NotFound, "no such program"); }),
            "config: user \"me\": its exec plugin \"login\" is not there: no such program; get it "
            "from the shop");
  EXPECT_EQ(error_of([](int) { return rt::ChildAnswer{.exit_code = 3}; }),
            "config: user \"me\": its exec plugin \"login\" ended with exit code 3; get it from "
            "the shop");
  seen_.takes = 2min;
  EXPECT_THAT(error_of(says(R"({"token":"t"})")), HasSubstr("did not end within 60 s"));
  seen_.takes = 0s;
  EXPECT_THAT(error_of("token"), HasSubstr("not an ExecCredential in JSON"));
  EXPECT_THAT(error_of("{}"), HasSubstr("kind is not ExecCredential"));
  EXPECT_THAT(error_of(R"({"kind":"ExecCredential","apiVersion":"v0"})"),
              AllOf(HasSubstr("\"v0\""), HasSubstr(kExecV1)));
  EXPECT_THAT(error_of(exec_credential("null")), HasSubstr("without a status"));
  EXPECT_THAT(error_of(exec_credential("{}")), HasSubstr("neither a token nor"));
  EXPECT_THAT(error_of(exec_credential(R"({"token":7})")), HasSubstr("must be a string"));
  EXPECT_THAT(error_of(exec_credential(R"({"clientKeyData":"k"})")), HasSubstr("only one of"));
  EXPECT_THAT(error_of(exec_credential(R"({"token":"t","expirationTimestamp":"soon"})")),
              HasSubstr("not a time"));
  const auto two_lines = error_of(exec_credential(R"({"token":"s3cr3t\r\nX: y"})"));
  EXPECT_THAT(two_lines, AllOf(HasSubstr("not one word"), Not(HasSubstr("s3cr3t"))));
}

TEST_F(PluginTest, OnlyAPersonAtATerminalIsAsked) {
  plugin_.input = PluginInput::Always;
  EXPECT_THAT(error_of(says(R"({"token":"t"})")), HasSubstr("interactiveMode Always"));
  EXPECT_TRUE(seen_.runs.empty());
  seen_.terminal = Terminal::Present;
  EXPECT_EQ(error_of(says(R"({"token":"t"})")), "");
  EXPECT_EQ(seen_.runs.back().input, rt::ChildProgram::Input::Ours);
  EXPECT_THAT(seen_.runs.back().environment,
              ::testing::Contains(HasSubstr(R"("interactive":true)")));
  plugin_.input = PluginInput::Never;
  EXPECT_EQ(error_of(says(R"({"token":"t"})")), "");
  EXPECT_EQ(seen_.runs.back().input, rt::ChildProgram::Input::None);
}

}  // namespace
}  // namespace muster::cluster::kube
