#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "words_fixture.h"

namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// What the shell is told, words alone.
class Completion : public WordsTest {
 protected:
  std::vector<std::string> offered(std::vector<std::string> words) {
    words.insert(words.begin(), "__complete");
    const Outcome told = run(std::move(words));
    EXPECT_EQ(told.code, exit_code::kOk);
    EXPECT_EQ(told.err, "");
    std::vector<std::string> found;
    for (const auto line : split(told.out, '\n')) {
      if (!line.empty()) found.emplace_back(line.substr(0, line.find('\t')));
    }
    return found;
  }
  void two_jobs() {
    const ToyKind& kind = this->kind("TrainJob", "example.org");
    create(kind, "bert");
    create(kind, "resnet");
  }
};

TEST_F(Completion, Commands) {
  EXPECT_THAT(offered({""}), AllOf(Contains("run"), Contains("logs"), Not(Contains("--home"))));
  EXPECT_THAT(offered({"lo"}), ElementsAre("logs"));
  EXPECT_THAT(offered({"-n", "ml", "lo"}), ElementsAre("logs"));
  EXPECT_THAT(offered({"help", "lo"}), ElementsAre("logs"));
  EXPECT_THAT(offered({"frobnicate", ""}), ElementsAre(":files"));
}

TEST_F(Completion, MeaningsStandBehindATab) {
  EXPECT_THAT(run({"__complete", "lo"}).out, HasSubstr("logs\tPrint the logs of all ranks"));
}

TEST_F(Completion, Flags) {
  EXPECT_THAT(offered({"logs", "--ta"}), ElementsAre("--tail"));
  EXPECT_THAT(offered({"logs", "--kube"}), ElementsAre("--kubeconfig"));
  EXPECT_THAT(offered({"--col"}), ElementsAre("--color"));
}

TEST_F(Completion, ValuesOfFlags) {
  EXPECT_THAT(offered({"--color", "a"}), ElementsAre("auto", "always"));
  EXPECT_THAT(offered({"--color=a"}), ElementsAre("--color=auto", "--color=always"));
  EXPECT_THAT(offered({"--color", "=", "a"}), ElementsAre("auto", "always"));  // as bash splits it
  EXPECT_THAT(offered({"--color", "="}), ElementsAre("auto", "always", "never"));
  EXPECT_THAT(offered({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(offered({"run", "--images", ""}), ElementsAre(":files"));
  EXPECT_THAT(offered({"run", ""}), ElementsAre(":files"));
}

TEST_F(Completion, NamesOfJobs) {
  two_jobs();
  EXPECT_THAT(offered({"logs", ""}), ElementsAre("bert", "resnet"));
  EXPECT_THAT(offered({"logs", "re"}), ElementsAre("resnet"));
  EXPECT_THAT(offered({"logs", "-f", "re"}), ElementsAre("resnet"));
  EXPECT_THAT(offered({"-n", "other", "logs", ""}), IsEmpty());
  EXPECT_THAT(offered({"delete", "bert", "r"}), ElementsAre("resnet"));
  EXPECT_THAT(offered({"logs", "trainjobs/b"}), ElementsAre("trainjobs/bert"));
  EXPECT_THAT(offered({"logs", "bert", ""}), IsEmpty());
}

TEST_F(Completion, ResourcesAndWhatThereIsOfThem) {
  two_jobs();
  EXPECT_THAT(offered({"get", "trainj"}), ElementsAre("trainjobs"));
  EXPECT_THAT(offered({"get", "trainjobs", "b"}), ElementsAre("bert"));
  EXPECT_THAT(offered({"get", "namespaces", "def"}), ElementsAre("default"));
  EXPECT_THAT(offered({"get", "-n", "def"}), ElementsAre("default"));
}

TEST_F(Completion, RolesAndRanks) {
  two_jobs();
  EXPECT_THAT(offered({"logs", "bert", "--role", ""}), ElementsAre("Rank"));
  EXPECT_THAT(offered({"logs", "bert", "--rank", ""}), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(offered({"logs", "bert", "--rank", "0,"}), ElementsAre("0,0", "0,1", "0,2", "0,3"));
  EXPECT_THAT(offered({"exec", "bert", "--role", "Rank", "--rank", "3"}), ElementsAre("3"));
  EXPECT_THAT(offered({"logs", "nothing", "--role", ""}), IsEmpty());
}

TEST_F(Completion, BehindTwoDashesIsTheShellsBusiness) {
  EXPECT_THAT(offered({"exec", "bert", "--", "l"}), ElementsAre(":files"));
}

TEST_F(Completion, SaysNothingWhenThereIsNothing) {
  EXPECT_THAT(offered({"logs", "--kubeconfig", "/nothing/there", ""}), IsEmpty());
  EXPECT_THAT(offered({"logs", "--rank", ""}), IsEmpty());
}

TEST_F(Completion, ScriptsAskTheProgram) {
  for (const std::string shell : {"bash", "zsh", "fish"})
    EXPECT_THAT(run({"completion", shell}).out, HasSubstr(" __complete ")) << shell;
  EXPECT_EQ(run({"completion", "csh"}).code, exit_code::kUsage);
}

TEST_F(Completion, LooksWhereTheLineSays) {
  std::vector<std::string> words = {"muster", "__complete", "--home",      "/x", "-n",
                                    "ml",     "logs",       "--context=c", ""};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  Flags flags;
  Verb verb;
  EXPECT_FALSE(parse(static_cast<int>(argv.size()), argv.data(), output(), flags, verb));
  EXPECT_EQ(flags.home, "/x");
  EXPECT_EQ(flags.ns, "ml");
  EXPECT_EQ(flags.kube_context, "c");
}

}  // namespace
}  // namespace muster::cli
