#include "trainer/command_line.h"

#include <vector>

#include <gtest/gtest.h>

namespace muster::trainer {
namespace {

Result<Command> parse(const std::vector<std::string>& arguments) {
  return parse_command_line(arguments);
}

TEST(CommandLineTest, TrainingTakesFlagsInBothSpellings) {
  const auto command = parse({"--epochs", "3", "--lr=0.5", "--no-all-reduce", "--checkpoint-dir",
                              "/tmp/x", "--step-delay-ms", "20", "--seed", "18446744073709551615"});
  ASSERT_TRUE(command) << command.error().message;
  const auto& train = std::get<TrainCommand>(*command);
  EXPECT_EQ(train.hyperparameters.epochs, 3u);
  EXPECT_EQ(train.hyperparameters.learning_rate, 0.5);
  EXPECT_FALSE(train.hyperparameters.all_reduce);
  EXPECT_EQ(train.checkpoint_directory, "/tmp/x");
  EXPECT_EQ(train.step_delay, std::chrono::milliseconds(20));
  EXPECT_EQ(train.hyperparameters.seed, ~std::uint64_t{0});
}

TEST(CommandLineTest, VerifyAndCompare) {
  const auto verify = parse({"verify", "out", "--ranks", "4"});
  ASSERT_TRUE(verify) << verify.error().message;
  EXPECT_EQ(std::get<VerifyCommand>(*verify).directory, "out");
  EXPECT_EQ(std::get<VerifyCommand>(*verify).ranks, 4u);
  EXPECT_EQ(std::get<VerifyCommand>(*verify).tolerance, 1e-5);

  const auto compare = parse({"compare", "a", "--tolerance", "0.25", "b"});
  ASSERT_TRUE(compare) << compare.error().message;
  EXPECT_EQ(std::get<CompareCommand>(*compare).first, "a");
  EXPECT_EQ(std::get<CompareCommand>(*compare).second, "b");
  EXPECT_EQ(std::get<CompareCommand>(*compare).tolerance, 0.25);
}

TEST(CommandLineTest, HelpOpensWithExamples) {
  for (const char* word : {"--help", "-h", "help"}) {
    const auto command = parse({word});
    ASSERT_TRUE(command) << command.error().message;
    EXPECT_TRUE(std::get<HelpCommand>(*command).text.starts_with("Examples:"));
  }
}

TEST(CommandLineTest, WhatIsWrongIsNamedWithWhatWouldBeRight) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--epoch", "3"}, "unknown flag --epoch"},
      {{"--epochs"}, "--epochs needs a value: --epochs N"},
      {{"--epochs", "many"}, "--epochs: 'many' is not a whole number from 1 to 100000"},
      {{"--epochs", "0"}, "--epochs: '0' is not"},
      {{"--epochs=-1"}, "--epochs: '-1' is not"},
      {{"--epochs", "2", "--steps-per-epoch", "1000000"}, "it must be 1 to 1000000"},
      {{"--lr", "nan"}, "--lr: 'nan' is not a number greater than 0"},
      {{"--lr", "101"}, "--lr is 101; it must be"},
      {{"--no-all-reduce=yes"}, "--no-all-reduce takes no value"},
      {{"--checkpoint-dir="}, "--checkpoint-dir: a directory is needed"},
      {{"train"}, "unexpected argument 'train'"},
      {{"verify", "--ranks", "4"}, "verify takes one directory"},
      {{"verify", "out"}, "verify needs to know how many ranks"},
      {{"compare", "a"}, "compare takes two files"},
      {{"compare", "a", "b", "--tolerance", "-1"}, "--tolerance: '-1' is not"},
  };
  for (const auto& [arguments, message] : wrong) {
    const auto command = parse(arguments);
    ASSERT_FALSE(command) << message;
    EXPECT_EQ(command.error().exit_code, ExitCode::Usage);
    EXPECT_NE(command.error().message.find(message), std::string::npos) << command.error().message;
  }
}

}  // namespace
}  // namespace muster::trainer
