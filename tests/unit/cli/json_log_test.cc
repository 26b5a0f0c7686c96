#include "cli/terminal/json_log.h"

#include <unistd.h>

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "json/read.h"
#include "verb_fixture.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;

std::string line_of(std::string_view text) {
  return json_log_line(parse_time("2026-11-16T17:00:00.000006Z").value(), Severity::Warning, "loop",
                       text, 7);
}

TEST(JsonLog, IsOneObjectALine) {
  EXPECT_EQ(line_of("stood still"),
            R"({"time":"2026-11-16T17:00:00.000006Z","level":"warning","component":"loop",)"
            R"("message":"stood still","fields":{"pid":7}})"
            "\n");
}

TEST(JsonLog, NoTextBreaksItsLine) {
  for (const std::string& text :
       {std::string("two\nlines"), std::string("\"}"), std::string("\xff"), std::string("a\0b", 3),
        std::string("\x1b[31m")}) {
    const std::string line = line_of(text);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto read = json::read(line);
    ASSERT_TRUE(read) << line;
    EXPECT_EQ((*read)["message"].as_string(), is_utf8(text) ? text : printable(text));
  }
}

TEST(JsonLog, LeavesOutWhatIsBelowItsLevel) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Logger log = json_log_to_descriptor(ends[1], Severity::Info).named("controller");
  log.debug("hidden");
  log.info("shown {}", 1);
  ::close(ends[1]);
  std::array<char, 1024> text{};
  const auto count = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  const auto read = json::read(std::string_view(text.data(), static_cast<std::size_t>(count)));
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)["component"].as_string(), "controller");
  EXPECT_EQ((*read)["message"].as_string(), "shown 1");
}

TEST(JsonLog, HoldsTheWordsForPeopleToo) {
  CapturedOutput people;
  std::vector<std::string> said;
  const Logger log(
      [&](Severity severity, std::string_view component, std::string_view text) {
        said.push_back(fmt::format("{} {} {}", static_cast<int>(severity), component, text));
      },
      Severity::Debug);
  LoggedOutput output(people, log);
  output.print("asked for\n");
  output.note("error: lost the leader lease\n");
  output.note("warning: slow\n");
  output.note("   Waiting  until it works\n");
  output.note("\n");
  output.draw("\x1b[K");
  EXPECT_EQ(people.out, "asked for\n");
  EXPECT_EQ(people.err, "");
  EXPECT_THAT(said, ElementsAre("3 muster lost the leader lease", "2 muster slow",
                                "1 muster Waiting  until it works"));
}

}  // namespace
}  // namespace muster::cli
