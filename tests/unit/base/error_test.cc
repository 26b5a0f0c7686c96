#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>

#include "base/check.h"
#include "base/log.h"

namespace muster {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(ErrorCode::Invalid, "odd");
  return number / 2;
}

Result<std::string> quarter(int number) {
  return std::to_string(TRY(half(TRY(half(number)))));
}

Result<void> even(int number) {
  TRY(half(number));
  return {};
}

TEST(Error, TryPassesValuesAndErrorsOn) {
  EXPECT_EQ(quarter(12).value(), "3");
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_TRUE(even(2));
  EXPECT_EQ(even(1).error().code, ErrorCode::Invalid);
}

Result<std::unique_ptr<int>> boxed(int number) {
  return std::make_unique<int>(TRY(half(number)));
}

Result<int> unboxed(int number) {
  const auto box = TRY(boxed(number));
  return *box;
}

TEST(Error, TryMovesWhatCannotBeCopied) {
  EXPECT_EQ(unboxed(8).value(), 4);
}

TEST(Error, ContextGoesInFrontAndTheRestStays) {
  const Error error{.code = ErrorCode::Invalid,
                    .message = "bad",
                    .causes = {{.field = "f", .reason = "r", .message = "m"}},
                    .retry_after = std::chrono::seconds(3)};
  const Error outer = error.in("reading job.yaml");
  EXPECT_EQ(outer.message, "reading job.yaml: bad");
  EXPECT_EQ(outer.code, error.code);
  EXPECT_EQ(outer.causes, error.causes);
  EXPECT_EQ(outer.retry_after, error.retry_after);
}

TEST(Error, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::Parse); ++code) {
    EXPECT_TRUE(names.insert(to_string(static_cast<ErrorCode>(code))).second);
  }
  EXPECT_FALSE(names.contains("Unknown"));
}

TEST(Error, SaysWhatTheSystemSaid) {
  EXPECT_EQ(fail_errno("open /x", ENOENT).error().message, "open /x: No such file or directory");
  errno = EACCES;
  EXPECT_EQ(fail_errno("open /x").error().message, "open /x: Permission denied");
  EXPECT_EQ(fail_errno("open /x", ENOENT).error().code, ErrorCode::Io);
}

TEST(CheckDeathTest, StopsOnABug) {
  EXPECT_DEATH(CHECK(1 + 1 == 3), "check failed: 1 \\+ 1 == 3");
}

TEST(Logger, KeepsWhatIsSevereEnoughAndNamesWhoSaidIt) {
  std::vector<std::string> lines;
  const Logger logger(
      [&](Severity, std::string_view component, std::string_view text) {
        lines.push_back(std::string(component) + ": " + std::string(text));
      },
      Severity::Warning);
  logger.named("store").info("quiet {}", 1);
  logger.named("store").warning("loud {}", 2);
  Logger().error("nowhere");
  EXPECT_EQ(lines, std::vector<std::string>{"store: loud 2"});
}

}  // namespace
}  // namespace muster
