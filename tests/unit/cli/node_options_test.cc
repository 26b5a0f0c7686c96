#include "cli/cluster/node_options.h"

#include <fstream>

#include "bare_context.h"
#include "temporary_home.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

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

class NodeOptions : public ::testing::Test {
 protected:
  NodeOptions() { bare_.context.home = home_.path; }
  TemporaryHome home_;
  BareContext bare_;
};

TEST_F(NodeOptions, AreWhatThisMachineHas) {
  bare_.context.environment = {{"PATH", "/usr/bin"}, {"HOME", "/root"}, {"SECRET", "x"}};
  bare_.context.capacity = {{"example.org/tpu", 4}};
  std::filesystem::create_directories(home_.path + "/root");
  std::ofstream(home_.path + "/images.yaml")
      << "images:\n- pattern: mine\n  rootfs: " << home_.path << "/root\n";
  const auto options = node_options(bare_.context, "box");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->name, "box");
  EXPECT_EQ(options->directory, home_.path + "/node");
  EXPECT_GE(options->cpu_milli, 1000);
  EXPECT_GT(options->memory_bytes, 0);
  EXPECT_EQ(options->pods, 1000);
  EXPECT_EQ(options->declared.at("example.org/tpu"), 4);
  ASSERT_EQ(options->images.size(), 1U);
  EXPECT_THAT(options->environment, ElementsAre(Pair("HOME", "/root"), Pair("PATH", "/usr/bin")));
}

TEST_F(NodeOptions, AnImagesFileThatCannotBeReadIsAnError) {
  std::ofstream(home_.path + "/images.yaml") << "images: [";
  const auto options = node_options(bare_.context, "box");
  ASSERT_FALSE(options);
  EXPECT_THAT(options.error().message, HasSubstr(home_.path + "/images.yaml"));
}

// Tests are not beside the programs that run pods.
TEST_F(NodeOptions, WhatIsMissingBesideUsIsNamed) {
  std::vector<std::string> said;
  bare_.context.log =
      Logger([&](Severity, std::string_view, std::string_view text) { said.emplace_back(text); },
             Severity::Warning);
  const auto options = node_options(bare_.context, "box");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->agent_program, "");
  EXPECT_THAT(said, ElementsAre(HasSubstr("/muster-agent is missing: containers have no ")));
  const auto shim = find_shim();
  ASSERT_FALSE(shim);
  EXPECT_THAT(shim.error().message,
              HasSubstr("/muster-shim is missing; it is built and installed together with muster"));
}

}  // namespace
}  // namespace muster::cli
