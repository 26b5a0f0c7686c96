#include "trainer/environment.h"

#include <map>

#include <gtest/gtest.h>

namespace muster::trainer {
namespace {

using Variables = std::map<std::string, std::string>;

const Variables kWorker = {{"MS_ROLE", "MS_WORKER"},  {"MS_SCHED_HOST", "10.96.0.12"},
                           {"MS_SCHED_PORT", "2222"}, {"MS_WORKER_NUM", "4"},
                           {"MS_SERVER_NUM", "0"},    {"MS_NODE_ID", "job-worker-2"}};

Result<Environment> read(const Variables& variables) {
  return read_environment([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

Variables worker_with(const std::string& name, const std::string& value) {
  Variables variables = kWorker;
  variables[name] = value;
  return variables;
}

TEST(EnvironmentTest, WithoutVariablesTheProcessStandsAlone) {
  const auto environment = read({});
  ASSERT_TRUE(environment) << environment.error().message;
  EXPECT_EQ(environment->role, Role::Standalone);
  EXPECT_EQ(environment->topology_timeout, std::chrono::seconds(60));
}

TEST(EnvironmentTest, TimeoutsAloneDoNotMakeAWorker) {
  const auto environment = read({{"MS_TOPO_TIMEOUT", "5"}});
  ASSERT_TRUE(environment) << environment.error().message;
  EXPECT_EQ(environment->role, Role::Standalone);
}

TEST(EnvironmentTest, ReadsWhatTheControllerInjects) {
  Variables variables = worker_with("MS_TOPO_TIMEOUT", "5");
  variables["MS_NODE_TIMEOUT"] = "7";
  const auto environment = read(variables);
  ASSERT_TRUE(environment) << environment.error().message;
  EXPECT_EQ(environment->role, Role::Worker);
  EXPECT_EQ(environment->node_id, "job-worker-2");
  EXPECT_EQ(environment->scheduler_host, "10.96.0.12");
  EXPECT_EQ(environment->scheduler_port, 2222);
  EXPECT_EQ(environment->workers, 4u);
  EXPECT_EQ(environment->topology_timeout, std::chrono::seconds(5));
  EXPECT_EQ(environment->node_timeout, std::chrono::seconds(7));
}

TEST(EnvironmentTest, OnlyASchedulerMayTakeAnyPort) {
  Variables variables = worker_with("MS_SCHED_PORT", "0");
  EXPECT_FALSE(read(variables));
  variables["MS_ROLE"] = "MS_SCHED";
  EXPECT_TRUE(read(variables));
}

TEST(EnvironmentTest, EachMissingVariableIsNamed) {
  for (const auto& [name, value] : kWorker) {
    Variables variables = kWorker;
    variables.erase(name);
    const auto environment = read(variables);
    ASSERT_FALSE(environment) << name;
    EXPECT_EQ(environment.error().exit_code, ExitCode::Usage);
    EXPECT_TRUE(environment.error().message.starts_with(name)) << environment.error().message;
  }
}

TEST(EnvironmentTest, EachWrongValueIsNamed) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"MS_ROLE", "MS_PSERVER"},   {"MS_ROLE", "worker"},      {"MS_SCHED_PORT", "65536"},
      {"MS_SCHED_PORT", "http"},   {"MS_WORKER_NUM", "0"},     {"MS_WORKER_NUM", "-4"},
      {"MS_WORKER_NUM", "1e3"},    {"MS_WORKER_NUM", "99999"}, {"MS_SERVER_NUM", "none"},
      {"MS_NODE_ID", "../escape"}, {"MS_TOPO_TIMEOUT", "0"},   {"MS_NODE_TIMEOUT", "soon"},
  };
  for (const auto& [name, value] : wrong) {
    const auto environment = read(worker_with(name, value));
    ASSERT_FALSE(environment) << name << "=" << value;
    EXPECT_EQ(environment.error().exit_code, ExitCode::Usage);
    EXPECT_NE(environment.error().message.find(name + " is '" + value + "'"), std::string::npos)
        << environment.error().message;
  }
}

}  // namespace
}  // namespace muster::trainer
