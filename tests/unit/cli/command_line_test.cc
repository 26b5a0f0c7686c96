#include "cli/command_line/command_line.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "base/version.h"
#include "words_fixture.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// What the words alone lead to: what was said and an exit code, or a verb to run and its flags.
struct Read {
  std::optional<int> code;
  std::string out;
  std::string err;
  Flags flags;
};

Read read(std::vector<std::string> words) {
  words.insert(words.begin(), "muster");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  CapturedOutput output;
  Read read;
  Verb verb;
  read.code = parse(static_cast<int>(argv.size()), argv.data(), output, read.flags, verb);
  EXPECT_EQ(!read.code.has_value(), static_cast<bool>(verb));
  read.out = output.out;
  read.err = output.err;
  return read;
}

std::size_t columns_of(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

TEST(CommandLine, AloneAndHelpPrintOneLineACommand) {
  const Read alone = read({});
  EXPECT_EQ(alone.code, exit_code::kOk);
  EXPECT_EQ(alone.err, "");
  EXPECT_THAT(alone.out, HasSubstr("\n  get       List jobs, pods and other objects\n"));
  EXPECT_THAT(alone.out, Not(HasSubstr("Examples")));
  EXPECT_EQ(read({"--help"}).out, alone.out);
  EXPECT_EQ(read({"-h"}).out, alone.out);
  for (const auto line : split(alone.out, '\n')) EXPECT_LE(columns_of(line), 80U) << line;
}

TEST(CommandLine, HelpOfACommandBeginsWithExamplesAndListsWhatItObeys) {
  const Read logs = read({"logs", "--help"});
  EXPECT_EQ(logs.code, exit_code::kOk);
  EXPECT_THAT(logs.out, StartsWith("Examples:\n  muster logs NAME\n"));
  EXPECT_THAT(logs.out, HasSubstr("Usage: muster logs [FLAGS] NAME\n"));
  EXPECT_THAT(logs.out, HasSubstr("  -f, --follow "));
  EXPECT_THAT(logs.out, HasSubstr("  --tail LINES "));
  EXPECT_THAT(logs.out, HasSubstr("  --kubeconfig FILE "));
  EXPECT_THAT(logs.out, HasSubstr("  --color auto|always|never "));
  EXPECT_EQ(read({"-n", "ml", "logs", "--help"}).out, logs.out);
  const Read up = read({"up", "--help"});
  EXPECT_THAT(up.out, HasSubstr("  --home DIR "));
  EXPECT_THAT(up.out, Not(HasSubstr("--kubeconfig FILE")));
  EXPECT_THAT(up.out, Not(HasSubstr("--namespace")));
  EXPECT_THAT(read({"version", "--help"}).out, Not(HasSubstr("--home")));
}

TEST(CommandLine, HelpSaysWholeWhatAFlagTakesAndWhatFollows) {
  EXPECT_THAT(read({"run", "--help"}).out, HasSubstr("  --mount DIR[:PATH][:ro] "));
  EXPECT_THAT(read({"exec", "--help"}).out,
              HasSubstr("Usage: muster exec [FLAGS] NAME… -- COMMAND…\n"));
  EXPECT_THAT(read({"history", "--help"}).out, Not(HasSubstr("--kubeconfig FILE")));
}

TEST(CommandLine, ATimeThatIsNoneIsWrongUsage) {
  for (const char* flag : {"--since", "--since-time", "--tail"}) {
    const Read wrong = read({"logs", "bert", flag, "soon"});
    EXPECT_EQ(wrong.code, exit_code::kUsage) << flag;
    EXPECT_THAT(wrong.err, StartsWith(std::string("error: ") + flag + ": \"soon\" is no"));
    EXPECT_THAT(wrong.err, HasSubstr("\n  see: muster help logs\n"));
  }
  EXPECT_EQ(read({"logs", "bert", "--since", "-5s"}).code, exit_code::kUsage);
  EXPECT_EQ(read({"wait", "bert", "--timeout", "soon"}).code, exit_code::kUsage);
  EXPECT_EQ(read({"logs", "bert", "--since", "5m", "--tail", "-1"}).code, std::nullopt);
  EXPECT_EQ(read({"logs", "bert", "--since-time", "2026-11-15T03:04:05Z"}).code, std::nullopt);
}

// What, where, and what would be right.
TEST(CommandLine, WrongUsageIsSaidKindly) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"-x"}, "muster has no flag -x\n  see: muster help\n"},
      {{"get", "-x"}, "muster get has no flag -x\n  see: muster help get\n"},
      {{"logs", "bert", "--tail"}, "--tail LINES needs a value\n"},
      {{"get", "--home"}, "--home DIR needs a value\n"},
      {{"get", "-n", "Bad Name"}, "--namespace: \"Bad Name\": must consist of lower case letters"},
      {{"get", "pods", "-l", "=b"}, "--selector: unable to parse label selector \"=b\""},
      {{"delete", "-l", "=b"}, "--selector: unable to parse label selector \"=b\""},
      {{"get", "--field-selector", "x"}, "--field-selector: invalid field selector \"x\""},
      {{"get", "--color", "red"}, "--color: \"red\" is none of auto, always, never\n"},
      {{"history", "-o", "yaml"}, "--output: \"yaml\" is not json\n"},
      {{"completion", "tcsh"}, "SHELL: \"tcsh\" is none of bash, zsh, fish\n"},
      {{"exec", "bert"}, "what should run comes behind --: muster exec NAME -- COMMAND…\n"},
      {{"exec", "a", "b", "c", "--", "ls"}, "one job or pod is wanted, as NAME, TYPE/NAME or"},
      {{"exec", "bert", "--rank", "a", "--", "ls"}, "--rank: \"a\" is no number from 0 on\n"},
      {{"exec", "bert", "--rank", "-1", "--", "ls"}, "--rank: \"-1\" is no number from 0 on\n"},
      {{"delete", "bert", "--grace-period", "x"},
       "--grace-period: \"x\" is no number from -1 on\n"},
      {{"delete", "--all=maybe"}, "--all: \"maybe\" is neither true nor false\n"},
      {{"run", "x", "--set", "replicas"}, "--set: \"replicas\" is not PATH=VALUE, as in spec."},
      {{"run", "x", "--set", "=3"}, "--set: \"=3\" is not PATH=VALUE, as in spec."},
      {{"run", "x", "--env", "=x"}, "--env: \"=x\" is not NAME=VALUE or NAME\n"},
      {{"up", "--api-port", "0"}, "--api-port: \"0\" is no number from 1 to 65535\n"},
      {{"node", "--name", "My Box"}, "--name: \"My Box\": must consist of lower case letters"},
      {{"operator", "--metrics-bind-address", "x"}, "--metrics-bind-address: \"x\" is not an "},
  };
  for (const auto& [words, expected] : cases) {
    const Read wrong = read(words);
    EXPECT_EQ(wrong.code, exit_code::kUsage) << expected;
    EXPECT_THAT(wrong.err, StartsWith("error: " + expected));
    EXPECT_THAT(wrong.err, HasSubstr("\n  see: muster help"));
  }
  EXPECT_EQ(read({"delete", "bert", "--grace-period", "-1"}).code, std::nullopt);
  EXPECT_EQ(read({"get", "-n", ""}).code, std::nullopt);
  EXPECT_EQ(read({"operator", "--metrics-bind-address", ":8080"}).code, std::nullopt);
}

TEST(CommandLine, EveryCommandHasExamplesAndFitsATerminal) {
  bool in_commands = false;
  for (const auto line : split(read({"--help"}).out, '\n')) {
    if (line.ends_with(':')) in_commands = line != "Flags:";
    if (!in_commands || !line.starts_with("  ")) continue;
    const std::string name(line.substr(2, line.find(' ', 2) - 2));
    const Read help = read({name, "--help"});
    EXPECT_EQ(help.code, exit_code::kOk) << name;
    EXPECT_THAT(help.out, StartsWith("Examples:\n  ")) << name;
    EXPECT_THAT(help.out, HasSubstr("muster " + name)) << name;
    for (const auto text : split(help.out, '\n'))
      EXPECT_LE(columns_of(text), 100U) << name << ": " << text;
  }
}

TEST(CommandLine, Version) {
  const Read version = read({"--version"});
  EXPECT_EQ(version.code, exit_code::kOk);
  EXPECT_EQ(version.out, fmt::format("muster {}\n", kVersion));
}

TEST(CommandLine, NearMissesOfCommands) {
  const Read slip = read({"lgos", "bert"});
  EXPECT_EQ(slip.code, exit_code::kUsage);
  EXPECT_EQ(slip.out, "");
  EXPECT_EQ(slip.err, "error: no command \"lgos\"; did you mean logs?\n  see: muster help\n");
  EXPECT_EQ(read({"-n", "ml", "lgos", "bert"}).err, slip.err);
  EXPECT_EQ(read({"--home=/x", "-v", "lgos"}).err, slip.err);
  EXPECT_EQ(read({"frobnicate"}).err, "error: no command \"frobnicate\"\n  see: muster help\n");
  EXPECT_EQ(read({"\x1b[31m"}).err.find('\x1b'), std::string::npos);
}

TEST(CommandLine, NearMissesOfFlags) {
  const Read slip = read({"logs", "bert", "--tial", "5"});
  EXPECT_EQ(slip.code, exit_code::kUsage);
  EXPECT_EQ(slip.err,
            "error: muster logs has no flag --tial; did you mean --tail?\n"
            "  see: muster help logs\n");
  EXPECT_THAT(read({"logs", "bert", "--tial=5"}).err, HasSubstr("did you mean --tail?"));
  EXPECT_THAT(read({"get", "--kubconfig", "x"}).err, HasSubstr("did you mean --kubeconfig?"));
  EXPECT_THAT(read({"get", "--kubconfig", "x"}).err, HasSubstr("muster get has no flag"));
  EXPECT_EQ(read({"version", "-Z"}).err,
            "error: muster version has no flag -Z\n  see: muster help version\n");
}

TEST(CommandLine, AWordTooManyIsNamed) {
  EXPECT_EQ(read({"version", "one", "two"}).err,
            "error: muster version takes no further argument: \"one\"\n"
            "  see: muster help version\n");
  EXPECT_EQ(read({"version", "one", "two"}).code, exit_code::kUsage);
}

TEST(CommandLine, WrongValuesAreUsageErrors) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--color", "blue", "get"},
                                             {"run", "x.yaml", "-o", "xml"},
                                             {"logs"},
                                             {"run"},
                                             {"exec", "bert"},
                                             {"up", "--api-port", "99999"},
                                             {"run", "x.yaml", "--capacity", "cpu=4"},
                                             {"node", "--kubeconfig", "x"},
                                             {"run", "x.yaml", "--agent-image", ""}}) {
    const Read wrong = read(words);
    EXPECT_EQ(wrong.code, exit_code::kUsage) << join(words, " ");
    EXPECT_THAT(wrong.err, StartsWith("error: ")) << join(words, " ");
    EXPECT_THAT(wrong.err, HasSubstr("\n  see: muster help")) << join(words, " ");
    EXPECT_EQ(wrong.out, "") << join(words, " ");
  }
}

TEST(CommandLine, SharedFlagsStandBeforeOrAfterTheCommand) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--home", "/h", "-n", "ml", "logs", "bert", "-v"},
                                             {"logs", "-v", "bert", "--home=/h", "-n", "ml"},
                                             {"-v", "logs", "--home", "/h", "bert", "-nml"}}) {
    const Read given = read(words);
    EXPECT_EQ(given.code, std::nullopt) << given.err;
    EXPECT_EQ(given.flags.home, "/h");
    EXPECT_EQ(given.flags.ns, "ml");
    EXPECT_EQ(given.flags.verbosity, 1);
    EXPECT_EQ(where_words(given.flags), " --home /h -n ml");
  }
}

TEST(CommandLine, WhatFollowsTwoDashesIsForTheProgram) {
  EXPECT_EQ(read({"exec", "bert", "--", "ls", "--help"}).code, std::nullopt);
  EXPECT_EQ(read({"-n", "ml", "exec", "bert", "--role", "Worker", "--", "exec", "--"}).code,
            std::nullopt);
  EXPECT_THAT(read({"exec", "--help"}).out, StartsWith("Examples:\n"));
}

TEST(CommandLine, AJobMayBeCalledAsACommandIs) {
  EXPECT_EQ(read({"logs", "get"}).code, std::nullopt);
  EXPECT_EQ(read({"logs", "logs"}).code, std::nullopt);
  EXPECT_EQ(read({"-n", "up", "delete", "run", "help"}).flags.ns, "up");
  EXPECT_EQ(read({"-n", "up", "delete", "run", "help"}).code, std::nullopt);
}

TEST(CommandLine, WordsThatAShellWouldSplitAreQuoted) {
  EXPECT_EQ(where_words({.kubeconfig = "/my files/it's"}), " --kubeconfig '/my files/it'\\''s'");
}

TEST(CommandLine, WhoIsToldOfAnUnusedKubeconfig) {
  EXPECT_TRUE(read({"get"}).flags.either_place);
  EXPECT_FALSE(read({"operator"}).flags.either_place);
  EXPECT_FALSE(read({"node", "--name", "x"}).flags.either_place);
  EXPECT_FALSE(read({"version"}).flags.either_place);
  EXPECT_FALSE(read({"up"}).flags.either_place);
}

class HelpVerb : public WordsTest {};

TEST_F(HelpVerb, SaysWhatTheFlagSays) {
  EXPECT_EQ(run({"help"}).out, read({"--help"}).out);
  EXPECT_EQ(run({"help", "logs"}).out, read({"logs", "--help"}).out);
  const Outcome slip = run({"help", "lgos"});
  EXPECT_EQ(slip.code, exit_code::kUsage);
  EXPECT_EQ(slip.err, "error: no command \"lgos\"; did you mean logs?\n  see: muster help\n");
}

TEST_F(HelpVerb, ManPages) {
  const Outcome page = run({"help", "--man", "logs"});
  EXPECT_EQ(page.code, exit_code::kOk);
  EXPECT_THAT(page.out, StartsWith(".TH \"muster\\-logs\" 1 "));
  EXPECT_THAT(page.out, HasSubstr(".TP\n.B \\-f, \\-\\-follow\n"));
  EXPECT_THAT(page.out, HasSubstr(".SH EXAMPLES\n.nf\nmuster logs NAME\n"));
  EXPECT_THAT(run({"help", "--man"}).out, HasSubstr(".SH LOOK\n.TP\n.B get\n"));
  // What a shell reads must not become a typographer's character.
  EXPECT_THAT(run({"help", "--man", "completion"}).out,
              HasSubstr("eval \\(dq$(muster completion bash)\\(dq\n"
                        "muster completion zsh >\\(ti/.zfunc/_muster\n"));
}

TEST_F(HelpVerb, Version) {
  EXPECT_EQ(run({"version"}).out, fmt::format("muster {}\n", kVersion));
  EXPECT_EQ(run({"version", "-o", "json"}).out,
            fmt::format("{{\"clientVersion\":{{\"gitVersion\":\"v{}\"}}}}\n", kVersion));
}

}  // namespace
}  // namespace muster::cli
