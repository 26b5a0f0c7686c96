#include "dialects/kubeflow/conditions.h"

#include <gtest/gtest.h>

namespace muster::dialects::kubeflow {
namespace {

using namespace std::chrono_literals;

const Time kStart = parse_time("2026-01-01T00:00:00Z").value();

class Conditions : public testing::Test {
 protected:
  void set(std::string_view type, const std::string& reason) {
    now_ += 1s;
    set_condition(list_, {.type = type, .reason = reason, .message = reason + "."}, now_);
  }
  // "Created Running=False Succeeded": the list as one line; True is not written.
  std::string line() const {
    std::string out;
    for (const auto& condition : list_) {
      if (!out.empty()) out += ' ';
      out += condition["type"].as_string();
      if (condition["status"].as_string() != "True") out += "=" + condition["status"].as_string();
    }
    return out;
  }

  json::Array list_;
  Time now_ = kStart;
};

TEST_F(Conditions, TheLastEntryIsTheState) {
  set("Created", "A");
  set("Running", "B");
  EXPECT_EQ(line(), "Created Running");
}

TEST_F(Conditions, RunningAndRestartingRemoveEachOther) {
  set("Created", "A");
  set("Running", "B");
  set("Restarting", "C");
  EXPECT_EQ(line(), "Created Restarting");
  set("Running", "B");
  EXPECT_EQ(line(), "Created Running");
}

TEST_F(Conditions, TheEndTurnsRunningToFalse) {
  for (const std::string_view end : {"Succeeded", "Failed"}) {
    list_.clear();
    set("Created", "A");
    set("Running", "B");
    set(end, "C");
    EXPECT_EQ(line(), "Created Running=False " + std::string(end));
    EXPECT_EQ(list_[1]["lastTransitionTime"], list_[2]["lastTransitionTime"]);
  }
}

TEST_F(Conditions, TheEndTurnsRestartingAndSuspendedToFalse) {
  set("Created", "A");
  set("Restarting", "B");
  set("Succeeded", "C");
  EXPECT_EQ(line(), "Created Restarting=False Succeeded");
  EXPECT_EQ(list_[1]["reason"].as_string(), "B");
  list_.clear();
  set("Created", "A");
  set("Suspended", "B");
  set("Failed", "C");
  EXPECT_EQ(line(), "Created Suspended=False Failed");
}

TEST_F(Conditions, SuspensionTurnsRunningToFalseWithItsReason) {
  set("Created", "A");
  set("Running", "B");
  set("Suspended", "C");
  EXPECT_EQ(line(), "Created Running=False Suspended");
  EXPECT_EQ(list_[1]["reason"].as_string(), "C");
  EXPECT_EQ(list_[1]["message"].as_string(), "C.");
  set_condition(list_, {.type = "Suspended", .status = false, .reason = "D"}, now_);
  EXPECT_EQ(line(), "Created Running=False Suspended=False");
  set("Running", "B");
  EXPECT_EQ(line(), "Created Suspended=False Running");
}

TEST_F(Conditions, TheSameStatusAndReasonChangeNothing) {
  set("Created", "A");
  set("Running", "B");
  const auto before = list_;
  set("Running", "B");
  set("Created", "A");
  EXPECT_EQ(list_, before);
}

TEST_F(Conditions, AnotherReasonMovesTheEntryAndKeepsItsTransition) {
  set("Running", "B");
  const auto transition = list_[0]["lastTransitionTime"];
  set("Created", "A");
  set("Running", "C");
  EXPECT_EQ(line(), "Created Running");
  EXPECT_EQ(list_[1]["reason"].as_string(), "C");
  EXPECT_EQ(list_[1]["lastTransitionTime"], transition);
  EXPECT_NE(list_[1]["lastUpdateTime"], transition);
}

TEST_F(Conditions, NothingChangesAfterTheEnd) {
  set("Created", "A");
  set("Failed", "B");
  const auto before = list_;
  set("Running", "C");
  set("Succeeded", "D");
  set("Failed", "E");
  EXPECT_EQ(list_, before);
}

TEST_F(Conditions, AFalseEntryBecomesTrueWithANewTransition) {
  list_.emplace_back(json::Object{{"type", "Running"},
                                  {"status", "False"},
                                  {"reason", "B"},
                                  {"lastTransitionTime", "2020-01-01T00:00:00Z"}});
  set("Running", "B");
  EXPECT_EQ(line(), "Running");
  EXPECT_EQ(list_[0]["lastTransitionTime"].as_string(), format_time(now_));
}

}  // namespace
}  // namespace muster::dialects::kubeflow
