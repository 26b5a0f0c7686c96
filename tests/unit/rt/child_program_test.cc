#include "rt/child_program.h"

#include <gtest/gtest.h>

#include "rt/scope.h"

namespace muster::rt {
namespace {

using namespace std::chrono_literals;

Result<ChildAnswer> shell(RealLoop& loop, const std::string& script, Duration limit = 20s) {
  return loop.run(with_timeout(loop, limit,
                               run_child(loop, {.program = "sh",
                                                .words = {"sh", "-c", script},
                                                .environment = {"GIVEN=yes"},
                                                .most_output = 100'000})));
}

TEST(ChildProgram, GivesWhatItPrintsAndHowItEnds) {
  RealLoop loop;
  const auto answer = shell(loop, "echo given $GIVEN; cat; exit 7");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->output, "given yes\n");
  EXPECT_EQ(answer->exit_code, 7);
  EXPECT_EQ(shell(loop, "kill -9 $$").value().exit_code, 128 + 9);
}

TEST(ChildProgram, HasNothingOfOursOpen) {
  RealLoop loop;
  const auto answer = shell(loop, "exec ls /proc/self/fd");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->output, "0\n1\n2\n3\n") << "3 is the directory that ls reads";
}

TEST(ChildProgram, OneThatPrintsTooMuchOrNeverEndsIsKilled) {
  RealLoop loop;
  EXPECT_EQ(shell(loop, "exec cat /dev/zero").error().code, ErrorCode::TooLarge);
  EXPECT_EQ(shell(loop, "exec sleep 1000", 50ms).error().code, ErrorCode::Timeout);
}

TEST(ChildProgram, OneThatIsNotThereIsNotFound) {
  RealLoop loop;
  const auto answer = loop.run(run_child(loop, {.program = "/no/such", .words = {"such"}}));
  EXPECT_EQ(answer.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace muster::rt
