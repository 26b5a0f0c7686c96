#include "cli/cluster/node_options.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(NodeName, IsANameWhateverTheMachineIsCalled) {
  EXPECT_EQ(node_name("box-1.example.com"), "box-1.example.com");
  EXPECT_EQ(node_name("DESKTOP-4F2"), "desktop-4f2");
  EXPECT_EQ(node_name("my_machine"), "my-machine");
  EXPECT_EQ(node_name("(none)"), "none");
  EXPECT_EQ(node_name("a..b.-c."), "a.b.c");
  EXPECT_EQ(node_name("Müller's"), "m--ller-s");
  EXPECT_EQ(node_name(""), "localhost");
  EXPECT_EQ(node_name("___"), "localhost");
  EXPECT_EQ(node_name(std::string(62, 'a') + "-b").size(), 62U);
}

}  // namespace
}  // namespace muster::cli
