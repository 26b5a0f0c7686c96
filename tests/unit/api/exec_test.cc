#include "api/exec.h"

#include <gtest/gtest.h>

#include "json/read.h"
#include "json/write.h"

namespace muster::api {
namespace {

json::Value pod(const char* status, const char* annotations = "{}") {
  return json::read(std::string(R"({"metadata":{"name":"p","annotations":)") + annotations +
                    R"(},"spec":{"containers":[{"name":"main"},{"name":"side"}]},"status":)" +
                    status + "}")
      .value();
}

constexpr const char* kBothRun =
    R"({"phase":"Running","containerStatuses":[{"name":"main","state":{"running":{}}},
        {"name":"side","state":{"running":{}}}]})";

TEST(ExecTest, ReadsTheQueryOfAPodAndOfANode) {
  const auto options = parse_exec_query(
      "command=sh&command=-c&command=echo+a%26b&container=main&stdin=true&stdout=1&tty=false&"
      "stderr",
      ExecNames::Pod);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->command, (std::vector<std::string>{"sh", "-c", "echo a&b"}));
  EXPECT_EQ(options->container, "main");
  EXPECT_TRUE(options->input && options->output && options->error && !options->terminal);
  const auto node = parse_exec_query("command=ls&input=1&output=1&error=1&tty=1", ExecNames::Node);
  ASSERT_TRUE(node);
  EXPECT_TRUE(node->input && node->output && node->terminal);
  EXPECT_FALSE(node->error) << "a terminal has one stream";
}

TEST(ExecTest, WhatIsWrittenIsRead) {
  const ExecOptions options{.container = "main",
                            .command = {"sh", "-c", "a b&c=d+e%"},
                            .input = true,
                            .output = true,
                            .terminal = true};
  const auto read = parse_exec_query(exec_query(options), ExecNames::Pod).value();
  EXPECT_EQ(read.command, options.command);
  EXPECT_EQ(read.container, "main");
  EXPECT_TRUE(read.input && read.output && !read.error && read.terminal);
}

TEST(ExecTest, RefusesAQueryWithoutCommandOrStreams) {
  EXPECT_EQ(parse_exec_query("stdout=true", ExecNames::Pod).error().message,
            "you must specify at least one command to execute");
  EXPECT_EQ(parse_exec_query("command=ls", ExecNames::Pod).error().message,
            "you must specify at least one of stdin, stdout, stderr");
  EXPECT_FALSE(parse_exec_query("command=%zz&stdout=true", ExecNames::Pod));
}

TEST(ExecTest, ChoosesTheNamedTheAnnotatedOrTheFirstContainer) {
  EXPECT_EQ(exec_container(pod(kBothRun), "side").value(), "side");
  EXPECT_EQ(exec_container(pod(kBothRun), "").value(), "main");
  const char* annotated = R"({"kubectl.kubernetes.io/default-container":"side"})";
  EXPECT_EQ(exec_container(pod(kBothRun, annotated), "").value(), "side");
}

TEST(ExecTest, SaysWhyAContainerCannotBeEntered) {
  EXPECT_EQ(exec_container(pod(kBothRun), "other").error().message,
            "container other is not valid for pod p, choose one of: [main side]");
  EXPECT_EQ(exec_container(pod(R"({"phase":"Succeeded"})"), "").error().message,
            "cannot exec into a container in a completed pod; pod p is Succeeded");
  EXPECT_EQ(exec_container(pod(R"({"phase":"Running","containerStatuses":[{"name":"main",
                "state":{"waiting":{"reason":"CrashLoopBackOff"}}}]})"),
                           "")
                .error()
                .message,
            "container \"main\" in pod \"p\" is not running: waiting: CrashLoopBackOff");
  EXPECT_EQ(exec_container(pod(R"({"phase":"Pending"})"), "").error().message,
            "container \"main\" in pod \"p\" is not running: not started");
}

TEST(ExecTest, ATerminalsSizeIsWithinItsBounds) {
  EXPECT_EQ(parse_terminal_size(terminal_size(80, 25)), std::pair(80, 25));
  for (const char* bad : {"", "[]", R"({"Width":0,"Height":1})", R"({"Width":70000,"Height":1})",
                          R"({"Width":-1,"Height":1})", R"({"Width":80})"}) {
    EXPECT_FALSE(parse_terminal_size(bad)) << bad;
  }
}

TEST(ExecTest, AnEndIsAStatusAndBack) {
  EXPECT_EQ(json::write(exit_status(0)), R"({"metadata":{},"status":"Success"})");
  EXPECT_EQ(json::write(exit_status(3)),
            R"({"metadata":{},"status":"Failure",)"
            R"("message":"command terminated with non-zero exit code: 3",)"
            R"("reason":"NonZeroExitCode",)"
            R"("details":{"causes":[{"reason":"ExitCode","message":"3"}]}})");
  for (const int code : {0, 1, 127, 137, 255})
    EXPECT_EQ(exit_code_of_status(exit_status(code)).value(), code);
  const auto failure = json::read(
      R"({"status":"Failure","message":"no such thing","reason":"InternalError","code":500})");
  EXPECT_EQ(exit_code_of_status(*failure).error().message, "no such thing");
}

}  // namespace
}  // namespace muster::api
