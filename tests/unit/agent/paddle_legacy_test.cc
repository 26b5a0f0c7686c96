// The pure parts of `muster-agent paddle-legacy`. PL-n: the number of the behaviour in
// docs/kinds/paddle-legacy.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/paddle_legacy/commands.h"
#include "agent/paddle_legacy/options.h"
#include "agent/paddle_legacy/roster.h"
#include "agent/paddle_legacy/settings.h"
#include "base/strings.h"
#include "json/read.h"

namespace muster::agent::paddle_legacy {
namespace {

using ::testing::ElementsAre;
using Variables = std::map<std::string, std::string, std::less<>>;

// The environment of the tutorial's training Job.
Variables tutorial() {
  return {{"JOB_NAME", "paddle-cluster-job"}, {"JOB_PATH", "/home/jobpath"},
          {"JOB_NAMESPACE", "default"},       {"TRAIN_CONFIG_DIR", "recommendation"},
          {"CONF_PADDLE_NIC", "eth0"},        {"CONF_PADDLE_PORT", "7164"},
          {"CONF_PADDLE_PORTS_NUM", "2"},     {"CONF_PADDLE_PORTS_NUM_SPARSE", "2"},
          {"CONF_PADDLE_GRADIENT_NUM", "3"}};
}

Variables changed(const char* name, const char* value) {
  auto variables = tutorial();
  if (value == nullptr) {
    variables.erase(name);
  } else {
    variables[name] = value;
  }
  return variables;
}

Result<Settings> settings_of(Variables variables, const std::string& pod_namespace = "") {
  return read_settings(Environment(std::move(variables)), pod_namespace);
}

TEST(Settings, OfTheTutorial) {
  const auto settings = settings_of(tutorial());
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->root(), "/home/jobpath/paddle-cluster-job");
  EXPECT_EQ(settings->output(), "/home/jobpath/paddle-cluster-job/output");
  EXPECT_EQ(settings->job_namespace, "default");
  EXPECT_EQ(settings->trainer_count, 1);
}

TEST(Settings, NamespaceOfThePodUnlessOneIsNamed) {
  EXPECT_EQ(settings_of(changed("JOB_NAMESPACE", nullptr), "team")->job_namespace, "team");
  EXPECT_EQ(settings_of(tutorial(), "team")->job_namespace, "default");
}

TEST(Settings, TrainerCount) {
  EXPECT_EQ(settings_of(changed("TRAINER_COUNT", "4"))->trainer_count, 4);
}

TEST(Settings, EveryErrorNamesTheVariable) {
  struct Row {
    const char* name;
    const char* value;
    const char* message;
  };
  for (const auto& row :
       {Row{"JOB_NAME", nullptr, "the container's environment lacks JOB_NAME"},
        Row{"JOB_NAME", "", "the container's environment lacks JOB_NAME"},
        Row{"JOB_PATH", nullptr, "the container's environment lacks JOB_PATH"},
        Row{"TRAIN_CONFIG_DIR", nullptr, "the container's environment lacks TRAIN_CONFIG_DIR"},
        Row{"CONF_PADDLE_NIC", nullptr, "the container's environment lacks CONF_PADDLE_NIC"},
        Row{"CONF_PADDLE_PORT", nullptr, "the container's environment lacks CONF_PADDLE_PORT"},
        Row{"CONF_PADDLE_PORTS_NUM", nullptr,
            "the container's environment lacks CONF_PADDLE_PORTS_NUM"},
        Row{"CONF_PADDLE_PORTS_NUM_SPARSE", nullptr,
            "the container's environment lacks CONF_PADDLE_PORTS_NUM_SPARSE"},
        Row{"CONF_PADDLE_GRADIENT_NUM", nullptr,
            "the container's environment lacks CONF_PADDLE_GRADIENT_NUM"},
        Row{"JOB_NAMESPACE", nullptr,
            "the container's environment lacks JOB_NAMESPACE (and no service account is mounted "
            "that would tell the pod's)"},
        Row{"CONF_PADDLE_PORT", "http",
            "CONF_PADDLE_PORT is \"http\"; it must be a number from 1 to 65535"},
        Row{"CONF_PADDLE_PORT", "0",
            "CONF_PADDLE_PORT is \"0\"; it must be a number from 1 to 65535"},
        Row{"CONF_PADDLE_PORT", "65533",
            "CONF_PADDLE_PORT 65533 and the ports after it end at 65536; the last port is 65535"},
        Row{"CONF_PADDLE_PORTS_NUM", "0",
            "CONF_PADDLE_PORTS_NUM is \"0\"; it must be a number from 1 to 65535"},
        Row{"CONF_PADDLE_PORTS_NUM_SPARSE", "-1",
            "CONF_PADDLE_PORTS_NUM_SPARSE is \"-1\"; it must be a number from 0 to 65535"},
        Row{"CONF_PADDLE_GRADIENT_NUM", "three",
            "CONF_PADDLE_GRADIENT_NUM is \"three\"; it must be a number from 1 to 100000"},
        Row{"TRAINER_COUNT", "0", "TRAINER_COUNT is \"0\"; it must be a number from 1 to 65535"}}) {
    const auto settings = settings_of(changed(row.name, row.value));
    ASSERT_FALSE(settings) << row.name;
    EXPECT_EQ(settings.error().message, row.message);
  }
  EXPECT_EQ(settings_of({{"JOB_NAME", "x"}}, "default").error().message,
            "the container's environment lacks JOB_PATH, TRAIN_CONFIG_DIR, CONF_PADDLE_NIC, "
            "CONF_PADDLE_PORT, CONF_PADDLE_PORTS_NUM, CONF_PADDLE_PORTS_NUM_SPARSE, "
            "CONF_PADDLE_GRADIENT_NUM");
}

TEST(Options, BothForms) {
  struct Row {
    std::vector<std::string> words;
    const char* options;  // name=value, separated by blanks
  };
  for (const auto& row : {Row{{}, ""}, Row{{"--a=1"}, "a=1"}, Row{{"--a", "1"}, "a=1"},
                          Row{{"--a=1", "--b", "2", "--c=3"}, "a=1 b=2 c=3"},
                          Row{{"--a=x=y"}, "a=x=y"},   // split at the first =
                          Row{{"--a="}, "a="},         // an empty value is one
                          Row{{"--a", "-1"}, "a=-1"},  // only -- begins an option
                          Row{{"--a", "x=y"}, "a=x=y"},
                          Row{{"--a=1", "--b=2", "--a=3"}, "a=3 b=2"},  // later duplicates win
                          Row{{"--a=1", "--a", "2", "--a=3"}, "a=3"}}) {
    TrainOptions options;
    ASSERT_TRUE(add_options(options, row.words)) << join(row.words, " ");
    std::vector<std::string> seen;
    for (const auto& [name, value] : options.all()) seen.push_back(name + "=" + value);
    EXPECT_EQ(join(seen, " "), row.options) << join(row.words, " ");
  }
}

TEST(Options, ErrorsNameTheWord) {
  struct Row {
    std::vector<std::string> words;
    const char* message;
  };
  constexpr const char* kHow =
      " is not an option; options of the trainer are written --name=value or --name value";
  for (const auto& row : {Row{{"--a"}, "--a has no value; write --a=value"},
                          Row{{"--a", "--b=1"}, "--a has no value; write --a=value"}}) {
    TrainOptions options;
    EXPECT_EQ(add_options(options, row.words).error().message, row.message);
  }
  for (const auto* word : {"a", "a=1", "-a=1", "--", "--=1", ""}) {
    TrainOptions options;
    EXPECT_EQ(add_options(options, {word}).error().message, "\"" + std::string(word) + "\"" + kHow);
  }
}

json::Value list(std::string_view items) {
  return json::read("{\"items\":[" + std::string(items) + "]}").value();
}

// PL-5: as text, so .10 comes before .2.
TEST(Roster, Pl5IdsFollowTheAddressesAsText) {
  const auto pods = list(R"({"status":{"phase":"Running","podIP":"10.1.0.3"}},
                            {"status":{"phase":"Running","podIP":"10.1.0.9"}},
                            {"status":{"phase":"Running","podIP":"10.1.0.12"}})");
  const auto roster = running_pods(pods);
  EXPECT_THAT(roster, ElementsAre("10.1.0.12", "10.1.0.3", "10.1.0.9"));
  const auto id = [&](const char* address) {
    return trainer_id(roster, std::vector<std::string>{address}).value();
  };
  EXPECT_EQ(id("10.1.0.12"), 0);
  EXPECT_EQ(id("10.1.0.3"), 1);
  EXPECT_EQ(id("10.1.0.9"), 2);
}

// PL-2: what counts is how many train, not how many are listed.
TEST(Roster, Pl2AnEarlyListIsNotComplete) {
  const auto settings = settings_of(tutorial()).value();
  const auto complete = [&](Roster running) {
    return complete_roster(std::move(running), settings);
  };
  EXPECT_FALSE(complete({})->has_value());
  EXPECT_FALSE(complete({"10.0.0.1"})->has_value());
  EXPECT_FALSE(complete({"10.0.0.1", "10.0.0.2"})->has_value());
  EXPECT_THAT(**complete({"10.0.0.1", "10.0.0.2", "10.0.0.3"}),
              ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3"));
}

// PL-3: pods that ended, and those that are going, neither count nor keep others waiting.
TEST(Roster, Pl3OnlyRunningPodsCount) {
  const auto pods = list(R"({"status":{"phase":"Failed","podIP":"10.0.0.1"}},
      {"status":{"phase":"Succeeded","podIP":"10.0.0.2"}},
      {"status":{"phase":"Pending"}},
      {"status":{"phase":"Running"}},
      {"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running","podIP":"10.0.0.3"}},
      {"status":{"phase":"Unknown","podIP":"10.0.0.4"}},
      {},
      {"status":{"phase":"Running","podIP":"10.0.0.5"}})");
  EXPECT_THAT(running_pods(pods), ElementsAre("10.0.0.5"));
  EXPECT_TRUE(running_pods(json::Value()).empty());
}

TEST(Roster, WhatCanNeverFitIsAnError) {
  const auto settings = settings_of(tutorial()).value();
  EXPECT_EQ(
      complete_roster({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"}, settings).error().message,
      "4 pods of job paddle-cluster-job are running, but CONF_PADDLE_GRADIENT_NUM is 3; it "
      "must equal the job's parallelism");
  EXPECT_EQ(complete_roster({"10.0.0.1", "10.0.0.1", "10.0.0.3"}, settings).error().message,
            "two pods of job paddle-cluster-job have the address 10.0.0.1, so they cannot be told "
            "apart; pods of the host's network need a machine each");
  EXPECT_EQ(
      trainer_id({"10.0.0.1"}, std::vector<std::string>{"10.0.0.7", "::1"}).error().message,
      "none of this container's addresses (10.0.0.7, ::1) is one of the running pods' (10.0.0.1)");
}

TEST(Roster, TheFirstOwnAddressThatIsListedCounts) {
  EXPECT_EQ(trainer_id({"10.0.0.1", "10.0.0.2"},
                       std::vector<std::string>{"127.0.1.1", "10.0.0.2", "10.0.0.1"}),
            1);
}

TEST(Commands, PServer) {
  EXPECT_EQ(join(pserver_command(settings_of(tutorial()).value()), " "),
            "paddle pserver --port=7164 --ports_num=2 --ports_num_for_sparse=2 --nics=eth0 "
            "--comment=paddle_process_by_paddle --num_gradient_servers=3");
}

TEST(Commands, Trainer) {
  const auto settings = settings_of(changed("TRAINER_COUNT", "4")).value();
  auto options = default_options(settings);
  const Roster roster{"10.1.0.12", "10.1.0.3", "10.1.0.9"};
  EXPECT_EQ(join(trainer_command(settings, roster, 1, options), " "),
            "paddle train --nics=eth0 --port=7164 --ports_num=2 --comment=paddle_process_by_paddle "
            "--pservers=10.1.0.12,10.1.0.3,10.1.0.9 --dot_period=10 --ports_num=2 "
            "--ports_num_for_sparse=2 --log_period=50 --num_passes=10 --trainer_count=4 "
            "--saving_period=1 --local=0 --config=trainer_config.lr.py --use_gpu=0 --trainer_id=1 "
            "--save_dir=/home/jobpath/paddle-cluster-job/output");
  ASSERT_TRUE(
      add_options(options, {"--num_passes=3", "--config", "./trainer_config.py", "--new=1"}));
  EXPECT_EQ(join(trainer_command(settings, roster, 2, options), " "),
            "paddle train --nics=eth0 --port=7164 --ports_num=2 --comment=paddle_process_by_paddle "
            "--pservers=10.1.0.12,10.1.0.3,10.1.0.9 --dot_period=10 --ports_num=2 "
            "--ports_num_for_sparse=2 --log_period=50 --num_passes=3 --trainer_count=4 "
            "--saving_period=1 --local=0 --config=./trainer_config.py --use_gpu=0 --new=1 "
            "--trainer_id=2 --save_dir=/home/jobpath/paddle-cluster-job/output");
}

// PL-11: what is waited for in place of a fixed time.
TEST(Commands, Pl11EveryPortOfEveryPServer) {
  const auto endpoints =
      pserver_endpoints(settings_of(tutorial()).value(), {"10.0.0.1", "10.0.0.2"});
  using Pair = std::pair<std::string, std::uint16_t>;
  EXPECT_THAT(endpoints,
              ElementsAre(Pair("10.0.0.1", 7164), Pair("10.0.0.1", 7165), Pair("10.0.0.1", 7166),
                          Pair("10.0.0.1", 7167), Pair("10.0.0.2", 7164), Pair("10.0.0.2", 7165),
                          Pair("10.0.0.2", 7166), Pair("10.0.0.2", 7167)));
}

}  // namespace
}  // namespace muster::agent::paddle_legacy
