#include "cli/logs/trouble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

// As the API server says it when a node serves no logs.
Error refused(const std::string& pod) {
  return {.code = ErrorCode::Internal,
          .message = "Get \"https://10.0.0.7:10250/containerLogs/ml/" + pod +
                     "/main?follow=true\": dial tcp 10.0.0.7:10250: connect: connection refused"};
}

TEST(LogTrouble, TheSameReasonOfManyRanksIsOne) {
  const LogOrigin first{.pod = "bert-worker-0", .role = "Worker", .index = 0};
  const LogOrigin second{.pod = "bert-worker-1", .role = "Worker", .index = 1};
  EXPECT_EQ(reason_of(refused("bert-worker-0"), first),
            reason_of(refused("bert-worker-1"), second));
  EXPECT_EQ(reason_of({.message = "no pod bert-worker-0"}, first),
            reason_of({.message = "no pod bert-worker-1"}, second));
}

TEST(LogTrouble, SaysWhoseWhyAndWhatWouldHelp) {
  const LogOrigin origin{.pod = "bert-worker-0", .role = "Worker", .index = 0};
  const Error error = refused("bert-worker-0");
  const std::string text =
      sentence_about(reason_of(error, origin), error,
                     {"Worker 0", "Worker 1", "Worker 2", "Worker 3", "Worker 4"}, true);
  EXPECT_THAT(text,
              HasSubstr("the logs of Worker 0, Worker 1, Worker 2 and 2 more cannot be read"));
  EXPECT_THAT(text, HasSubstr("dial tcp 10.0.0.7:10250: connect: connection refused"));
  EXPECT_THAT(text, HasSubstr("--client-ca"));
  EXPECT_EQ(text.find("containerLogs"), std::string::npos);
  EXPECT_THAT(sentence_about("no", {.code = ErrorCode::Forbidden, .message = "no"}, {"p"}, true),
              HasSubstr("pods/log"));
}

}  // namespace
}  // namespace muster::cli
