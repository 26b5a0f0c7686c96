#include "cli/command_line/suggest.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

const std::vector<std::string>& verbs() {
  static const std::vector<std::string> names = {"run",  "up",     "get",  "describe",
                                                 "logs", "delete", "wait", "resume"};
  return names;
}

TEST(Suggest, OneSlipOfTheFingers) {
  EXPECT_EQ(nearest("rnu", verbs()), "run");
  EXPECT_EQ(nearest("lgos", verbs()), "logs");
  EXPECT_EQ(nearest("delte", verbs()), "delete");
  EXPECT_EQ(nearest("Describe", verbs()), "describe");
  EXPECT_EQ(nearest("log", verbs()), "logs");
}

TEST(Suggest, TheOnlyOneThatBeginsSo) {
  EXPECT_EQ(nearest("desc", verbs()), "describe");
  EXPECT_EQ(nearest("de", verbs()), std::nullopt);
}

TEST(Suggest, NothingNear) {
  EXPECT_EQ(nearest("frobnicate", verbs()), std::nullopt);
  EXPECT_EQ(nearest("", verbs()), std::nullopt);
  EXPECT_EQ(nearest("run", {}), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'x'), verbs()), std::nullopt);
}

TEST(Suggest, AsTheEndOfAMessage) {
  EXPECT_EQ(did_you_mean("delte", verbs()), "; did you mean delete?");
  EXPECT_EQ(did_you_mean("frobnicate", verbs()), "");
}

}  // namespace
}  // namespace muster::cli
