#include "node/runtime/nursery.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "machine.h"

namespace muster::node {
namespace {

using NurseryTest = RuntimeTest;

TEST_F(NurseryTest, IsThereBeforeTheFirstPod) {
  open_runtime();
  ASSERT_TRUE(run(runtime_->adopt()));
  const auto words = std::string("nursery") + '\0' + home_key(home_);
  const auto processes = std::filesystem::directory_iterator("/proc");
  EXPECT_TRUE(std::any_of(begin(processes), end(processes), [&](const auto& process) {
    return read_text(process.path().string() + "/cmdline").contains(words);
  }));
}

TEST_F(NurseryTest, OneThatWasKilledIsStartedAnewAndItsShimsStay) {
  open_runtime();
  pod("a");
  start("a", container({"sh", "-c", "echo here; read x"}));
  EXPECT_EQ(wait("a").exit_code, 1) << "the input of a container is empty";
  start("a", container({"sleep", "60"}, 1));
  kill_the("muster-nursery", home_key(home_));
  pod("b");
  EXPECT_EQ(run_container("b", container({"sh", "-c", "exit 3"})).exit_code, 3);
  ASSERT_TRUE(run(runtime_->kill_container("a", "main", 1)));
  const auto exit = wait("a", "main", 1);
  EXPECT_EQ(exit.exit_code, 137);
  EXPECT_FALSE(exit.unknown) << "its shim saw it end";
  remove("a");
  remove("b");
}

TEST_F(NurseryTest, ShimsShowTheirPod) {
  open_runtime();
  pod("a");
  pod("b");
  kill_the("muster-shim", state() + "/b");
  EXPECT_EQ(run_container("a", container({"true"})).exit_code, 0);
  remove("a");
  remove("b");
}

TEST_F(NurseryTest, WhatCannotBeStartedIsSaid) {
  Nursery nursery({.program = home_ + "/nothing", .home_key = "key"});
  const auto born = nursery.bear(home_, Fd(), Fd());
  ASSERT_FALSE(born);
  EXPECT_NE(born.error().message.find(home_ + "/nothing"), std::string::npos)
      << born.error().message;
}

}  // namespace
}  // namespace muster::node
