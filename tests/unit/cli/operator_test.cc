#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs/verbs.h"
#include "net/tls/tls.h"
#include "rt/scope.h"
#include "words_fixture.h"

namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// An operator for the test's own API server, by way of a kubeconfig, until it is told to end.
class OperatorVerb : public WordsTest {
 protected:
  // Tells the process to end until the verb has heard it: nobody says when it listens.
  static Task<void> stop(rt::RealLoop& loop, const std::vector<std::string>& said) {
    const rt::Signals survive(loop, {SIGTERM});
    while (co_await rt::sleep_for(loop, std::chrono::milliseconds(10))) {
      if (!said.empty()) static_cast<void>(std::raise(SIGTERM));
    }
  }
  // What it logged, line by line.
  std::vector<std::string> serve(OperatorOptions options) {
    std::vector<std::string> said;
    const std::string path = kubeconfig();
    const auto verb = [&](Context& context) -> Task<int> {
      context.kubeconfig = path;
      context.log = Logger(
          [&](Severity, std::string_view, std::string_view text) { said.emplace_back(text); },
          Severity::Info);
      rt::TaskScope scope(context.loop);
      scope.spawn(stop(context.loop, said));
      const int code = co_await run_operator(context, options);
      co_await scope.close();
      co_return code;
    };
    const Outcome ended = outcome(verb);
    EXPECT_EQ(ended.code, exit_code::kOk) << ended.err;
    return said;
  }
};

TEST_F(OperatorVerb, SaysFirstWhatItServesForWhomAndWhere) {
  kind("TrainJob", "example.org");
  const auto said = serve({.ns = "ml", .metrics_address = "127.0.0.1:0", .health_address = "0"});
  ASSERT_FALSE(said.empty());
  EXPECT_THAT(said.front(), HasSubstr(": operator of cluster test (unix://" + home() +
                                      "/muster.sock) in namespace ml: runs trainjobs.example.org"));
}

TEST_F(OperatorVerb, IsElectedFirst) {
  kind("TrainJob", "example.org");
  const auto said = serve({.leader_elect = true,
                           .lease_namespace = "default",
                           .metrics_address = "0",
                           .health_address = "0"});
  EXPECT_THAT(said.front(), HasSubstr(" in all namespaces: runs "));
}

TEST_F(OperatorVerb, RefusesWhatItCannotServe) {
  kind("TrainJob", "example.org");
  const Outcome unknown = run({"operator", "--kinds", "trainjbos", "--kubeconfig", kubeconfig()});
  EXPECT_EQ(unknown.code, exit_code::kUsage);
  EXPECT_THAT(unknown.err, HasSubstr("trainjbos"));
  const Outcome nowhere = run({"operator", "--kubeconfig", "/nothing/there"});
  EXPECT_EQ(nowhere.code, exit_code::kFailed);
  EXPECT_THAT(nowhere.err, HasSubstr("/nothing/there"));
  const Outcome address =
      run({"operator", "--kubeconfig", kubeconfig(), "--metrics-bind-address", "here"});
  EXPECT_EQ(address.code, exit_code::kUsage);
  EXPECT_THAT(address.err, HasSubstr("\"here\" is not an address to bind to"));
}

// A node's first line; it ends behind it, because of a range of addresses that is none.
TEST_F(OperatorVerb, NodeSaysFirstWhatItServesForWhomAndWhere) {
  const auto first_line = [this](const std::string& client_ca) {
    std::vector<std::string> said;
    const std::string path = kubeconfig();
    outcome([&](Context& context) {
      context.kubeconfig = path;
      context.log = Logger(
          [&](Severity, std::string_view, std::string_view text) { said.emplace_back(text); },
          Severity::Info);
      return node(context, {.name = "box", .client_ca = client_ca, .pod_range = "nowhere"});
    });
    return said.empty() ? std::string() : said.front();
  };
  EXPECT_THAT(first_line(""),
              AllOf(HasSubstr(": node box of cluster test (unix://" + home() +
                              "/muster.sock): runs its pods as processes of this machine; "),
                    HasSubstr("; logs and exec are not served without --client-ca")));
  const std::string ca = home() + "/ca.pem";
  std::ofstream(ca) << net::make_self_signed({.common_name = "ca"}, loop().now())->certificate_pem;
  EXPECT_THAT(first_line(ca), HasSubstr("; logs and exec on https://127.0.0.1:"));
}

TEST_F(OperatorVerb, NodeNeedsAClusterAndReadableFiles) {
  const Outcome nowhere = run({"node", "--name", "box", "--kubeconfig", "/nothing/there"});
  EXPECT_EQ(nowhere.code, exit_code::kFailed);
  EXPECT_THAT(nowhere.err, HasSubstr("/nothing/there"));
  const Outcome ca = run(
      {"node", "--name", "box", "--kubeconfig", kubeconfig(), "--client-ca", "/nothing/ca.pem"});
  EXPECT_EQ(ca.code, exit_code::kFailed);
  EXPECT_THAT(ca.err, HasSubstr("--client-ca: cannot read /nothing/ca.pem"));
}

class NodeVerb : public OperatorVerb {
 protected:
  // What it logs until it lacks the programs that run pods, which are not beside tests.
  std::vector<std::string> greeting(NodeVerbOptions options) {
    std::vector<std::string> said;
    const std::string path = kubeconfig();
    const Outcome ended = outcome([&](Context& context) {
      context.kubeconfig = path;
      context.log = Logger(
          [&](Severity, std::string_view, std::string_view text) { said.emplace_back(text); },
          Severity::Info);
      return node(context, options);
    });
    EXPECT_EQ(ended.code, exit_code::kFailed);
    EXPECT_THAT(ended.err, HasSubstr("/muster-shim is missing"));
    return said;
  }
};

TEST_F(NodeVerb, SaysFirstWhoseNodeItIsAndWhatItServes) {
  const auto said = greeting({.name = "box"});
  ASSERT_FALSE(said.empty());
  EXPECT_THAT(said.front(), HasSubstr(": node box of cluster test (unix://" + home() +
                                      "/muster.sock): runs its pods as processes of this machine; "
                                      "logs and exec are not served without --client-ca"));
}

TEST_F(NodeVerb, WithACaItServesLogsAndExec) {
  const auto ca = net::make_self_signed({.common_name = "ca"}, loop().now());
  ASSERT_TRUE(ca);
  std::ofstream(home() + "/ca.pem") << ca->certificate_pem;
  const auto said = greeting({.name = "box", .client_ca = home() + "/ca.pem"});
  ASSERT_FALSE(said.empty());
  EXPECT_THAT(said.front(), ContainsRegex("; logs and exec on https://127.0.0.1:[1-9][0-9]+$"));
}

}  // namespace
}  // namespace muster::cli
