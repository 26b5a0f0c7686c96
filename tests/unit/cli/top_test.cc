#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/terminal/full_screen.h"
#include "rt/scope.h"
#include "standard_streams.h"
#include "words_fixture.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

class TopVerb : public WordsTest {};

// No node measures here, so what runs is listed and nothing is known of it.
TEST_F(TopVerb, RanksOfAJobAndOfAll) {
  const ToyKind& kind = this->kind("TrainJob", "example.org");
  EXPECT_EQ(run({"top"}).err, "No pod runs.\n");
  create(kind, "bert");
  create(api::pods(), rank(kind, "bert", 0, json::Object{{"running", json::Object()}}));
  create(api::pods(), pod("plain", json::Object{{"running", json::Object()}}));
  const Outcome all = run({"top"});
  EXPECT_EQ(all.code, exit_code::kOk) << all.err;
  EXPECT_THAT(all.out, HasSubstr("JOB "));
  EXPECT_THAT(all.out, HasSubstr("plain"));
  const Outcome one = run({"top", "bert", "--once"});
  EXPECT_THAT(one.out, HasSubstr("rank-0"));
  EXPECT_THAT(one.out, ::testing::Not(HasSubstr("plain")));
  EXPECT_THAT(run({"top", "bert", "-o", "json"}).out, HasSubstr("\"role\":\"Rank\",\"rank\":0"));
  EXPECT_EQ(run({"top", "nothing"}).code, exit_code::kFailed);
}

TEST_F(TopVerb, OnATerminalItGoesOnUntilCtrlC) {
  const auto watch = [](rt::RealLoop& loop, CapturedOutput& output) -> Task<void> {
    while (!output.out.contains("Ctrl-C ends this."))
      if (!co_await rt::sleep_for(loop, std::chrono::milliseconds(1))) co_return;
    static_cast<void>(std::raise(SIGINT));
  };
  create(api::pods(), pod("plain", json::Object{{"running", json::Object()}}));
  const PseudoTerminal terminal(80, 24);
  Outcome seen;
  {
    const Replaced out(STDOUT_FILENO, terminal.end());
    rt::TaskScope scope(loop());
    scope.spawn(watch(loop(), output()));
    seen = run({"top"});
    loop().run(scope.close());
  }
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  EXPECT_THAT(seen.out, HasSubstr("\x1b[?1049h")) << "a screen of its own";
  const std::string left = seen.out.substr(seen.out.find("\x1b[?1049l"));
  EXPECT_THAT(left, HasSubstr("plain")) << "what was last seen stays";
}

TEST(FullScreen, RowsAreCutToTheWindow) {
  EXPECT_EQ(frame({"abcdef", "ÄÖÜ", "third"}, 2, 3), "\x1b[Habc\x1b[K\r\nÄÖÜ\x1b[K\x1b[J");
  EXPECT_EQ(frame({}, 24, 80), "\x1b[H\x1b[J");
}

TEST(FullScreen, GivesTheWindowBack) {
  CapturedOutput output;
  {
    FullScreen(output).show({"x"});
  }
  EXPECT_TRUE(output.out.starts_with("\x1b[?1049h"));
  EXPECT_TRUE(output.out.ends_with("\x1b[?1049l"));
}

}  // namespace
}  // namespace muster::cli
