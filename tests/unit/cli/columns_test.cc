#include "cli/terminal/columns.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(Columns, AreAsWideAsTheirWidestCell) {
  EXPECT_EQ(columns({{"NAME", "AGE"}, {"a-long-name", "5s"}}),
            "NAME          AGE\na-long-name   5s\n");
}

TEST(Columns, CountWhatATerminalShows) {
  EXPECT_EQ(columns({{"größe", "A"}, {"模型", "B"}, {"abcde", "C"}}),
            "größe   A\n模型    B\nabcde   C\n");
}

TEST(Columns, NothingInThemSteersATerminal) {
  EXPECT_EQ(columns({{"IMAGE"}, {"\x1b[31mred\xff"}}), "IMAGE\n?[31mred\xEF\xBF\xBD\n");
}

TEST(Columns, ACellIsOneLine) {
  EXPECT_EQ(columns({{"REASON", "MESSAGE"}, {"Failed", "first\nsecond\tthird"}}),
            "REASON   MESSAGE\nFailed   first second third\n");
}

}  // namespace
}  // namespace muster::cli
