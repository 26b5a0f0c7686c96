#include "cli/terminal/columns.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(Columns, AreAsWideAsTheirWidestCell) {
  EXPECT_EQ(columns({{"NAME", "AGE"}, {"a-long-name", "5s"}}),
            "NAME          AGE\na-long-name   5s\n");
}

}  // namespace
}  // namespace muster::cli
