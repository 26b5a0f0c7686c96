#include "cli/logs/log_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/read.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;

cluster::ObjectPtr pod(std::string_view text) {
  return std::make_shared<const json::Value>(*json::read(text));
}

// Those that were told to go because another one failed often end with a code that is not 0.
TEST(LogTarget, WhoWasStoppedDidNotFail) {
  const LogTarget target{
      .pods = {pod(R"({"metadata":{"name":"good"},"status":{"phase":"Succeeded"}})"),
               pod(R"({"metadata":{"name":"bad"},"status":{"phase":"Failed"}})"),
               pod(R"({"metadata":{"name":"stopped","deletionTimestamp":"2026-01-01T00:00:00Z"},
                       "status":{"phase":"Failed"}})")},
      .record = RunRecord{.pods = {{.name = "before", .failed = true}, {.name = "fine"}}},
      .cause = plan::Cause{.pod = "first"}};
  EXPECT_THAT(target.failed_pods(), ElementsAre("bad", "before", "first"));
}

}  // namespace
}  // namespace muster::cli
