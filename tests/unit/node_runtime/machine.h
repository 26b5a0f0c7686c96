#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "node/runtime/runtime.h"
#include "rt/scope.h"

namespace muster::node {

// What of the machine a pod could leave behind: processes of ours, mounts, links, network
// namespaces, cgroups, nft tables, routes and shared memory, a line each.
std::set<std::string> describe_machine();

// A home of its own with a runtime in it; after the test nothing new may be left on the machine.
class RuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  void open_runtime();
  void close_runtime();

  template <class T>
  T run(Task<T> task) {
    return loop_->run(std::move(task));
  }
  Sandbox pod(const std::string& uid, SandboxSpec spec = {}, std::vector<ServiceRule> rules = {});
  static ContainerSpec container(std::vector<std::string> argv, int attempt = 0);
  ContainerStart start(const std::string& uid, ContainerSpec spec);
  ContainerExit wait(const std::string& uid, const std::string& name = "main", int attempt = 0);
  ContainerExit run_container(const std::string& uid, ContainerSpec spec);
  // The raw log, and the texts of its lines.
  std::string log_file(const std::string& uid, const std::string& name = "main", int attempt = 0);
  std::string output(const std::string& uid, const std::string& name = "main", int attempt = 0);
  // Waits until the log has the text.
  bool await_output(const std::string& uid, const std::string& text,
                    const std::string& name = "main");
  void remove(const std::string& uid);
  // A process of that name in whose words the other one is, whatever else runs on the machine.
  static void kill_the(const std::string& name, const std::string& word);
  // Where what is known of the pods lies, in memory.
  [[nodiscard]] std::string state() const { return state_directory(home_key(home_)); }

  std::set<std::string> before_;
  std::string home_;
  std::unique_ptr<rt::RealLoop> loop_;
  std::unique_ptr<rt::Pool> pool_;
  std::unique_ptr<Runtime> runtime_;
};

std::string read_text(const std::string& path);

}  // namespace muster::node
