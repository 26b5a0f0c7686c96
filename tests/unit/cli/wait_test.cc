#include "api/object.h"
#include "cli/objects/goal.h"
#include "cli/verbs/verbs.h"
#include "rt/scope.h"
#include "verb_fixture.h"

namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Goal, SaysWhatThereIs) {
  for (const char* text : {"finished", "running", "delete", "condition=Ready",
                           "condition=Ready=false", "jsonpath={.status.phase}=Running",
                           "jsonpath='{.status.phase}'=Running", "jsonpath={.status.loadBalancer}"})
    EXPECT_TRUE(Goal::parse(text)) << text;
  for (const char* text : {"", "done", "condition", "condition=", "condition==x", "jsonpath="}) {
    const auto goal = Goal::parse(text);
    ASSERT_FALSE(goal) << text;
    EXPECT_THAT(goal.error().message, HasSubstr("use finished, running, delete, condition=TYPE"));
  }
}

TEST(Goal, IsReached) {
  const json::Value object = json::Object{
      {"status", json::Object{{"phase", "Running"},
                              {"conditions", json::Array{json::Object{{"type", "Ready"},
                                                                      {"status", "False"}}}}}}};
  const auto reached = [&](const char* text) {
    return Goal::parse(text)->reached(object, nullptr);
  };
  EXPECT_TRUE(reached("running"));
  EXPECT_FALSE(reached("finished"));
  EXPECT_FALSE(reached("condition=Ready"));
  EXPECT_TRUE(reached("condition=ready=false"));
  EXPECT_TRUE(reached("condition=Ready=False"));
  EXPECT_FALSE(reached("condition=Absent=False"));
  EXPECT_TRUE(reached("jsonpath={.status.phase}=Running"));
  EXPECT_FALSE(reached("jsonpath={.status.phase}=Failed"));
  EXPECT_TRUE(reached("jsonpath={.status.conditions[?(@.type==\"Ready\")].status}=False"));
  EXPECT_TRUE(reached("jsonpath={.status.phase}"));
  EXPECT_FALSE(reached("jsonpath={.status.absent}"));
}

class Wait : public VerbTest {
 protected:
  Outcome wait_for(std::vector<std::string> words, std::string condition,
                   Duration limit = std::chrono::milliseconds(50)) {
    return outcome([&](Context& context) {
      return wait(context, {.words = words, .condition = condition, .timeout = limit});
    });
  }
  static json::Value ended(int code) {
    return json::Object{{"terminated", json::Object{{"exitCode", code}}}};
  }
  static json::Value broken(int code) {
    plan::Ledger ledger;
    ledger.cause = plan::Cause{.pod = "p", .exit_code = code};
    return json::Object{{"state", "BROKEN"}, {std::string(plan::kStatusKey), ledger.to_json()}};
  }
  // Once somebody waits, the job ends so and is gone.
  Task<void> end_and_go(json::Value end) {
    const int before = served().watches();
    while (served().watches() == before) {
      if (!co_await rt::sleep_for(loop(), std::chrono::milliseconds(1))) co_return;
    }
    co_await store_status(toy_, "quick", std::move(end));
    const auto gone = co_await cluster().remove(
        toy_.identity().resource, {.ns = "default", .name = "quick"}, {.grace_seconds = 0});
    EXPECT_TRUE(gone);
  }
  const ToyKind& toy_ = kind("Toy", "toy.dev");
};

TEST_F(Wait, ForSeveralIsForAllAndTheFirstCodeCounts) {
  create(toy_, "a", json::Object{{"state", "DONE"}});
  create(toy_, "b", broken(3));
  create(toy_, "c", broken(4));
  const Outcome seen = wait_for({"a", "b", "c"}, "finished");
  EXPECT_EQ(seen.code, 3) << seen.err;
  EXPECT_EQ(seen.out, "toys.toy.dev/a succeeded\ntoys.toy.dev/b failed\ntoys.toy.dev/c failed\n");
  create(toy_, "d");
  const Outcome late = wait_for({"a", "d"}, "finished");
  EXPECT_EQ(late.code, 124);
  EXPECT_THAT(late.err, AllOf(HasSubstr("timed out after 50ms waiting for toys.toy.dev/d"),
                              HasSubstr("to be finished")));
}

TEST_F(Wait, ForAPodIsForItsEndAndItsCode) {
  create(api::pods(), pod("good", ended(0)));
  create(api::pods(), pod("bad", ended(7)));
  EXPECT_EQ(wait_for({"pods/good"}, "finished").out, "pods/good succeeded\n");
  EXPECT_EQ(wait_for({"bad"}, "finished").code, 7);
  EXPECT_EQ(wait_for({"pods", "good", "bad"}, "finished").code, 7);
}

TEST_F(Wait, ForADeletionOfWhatIsNotThereIsDone) {
  EXPECT_EQ(wait_for({"nobody"}, "delete").code, 0);
  EXPECT_EQ(wait_for({"nobody"}, "finished").code, 1);
}

TEST_F(Wait, ZeroLooksOnce) {
  create(toy_, "a", json::Object{{"state", "DONE"}});
  create(toy_, "b");
  EXPECT_EQ(wait_for({"a"}, "finished", Duration::zero()).code, 0);
  EXPECT_EQ(wait_for({"b"}, "finished", Duration::zero()).code, 124);
}

TEST_F(Wait, WhatIsOverHasRun) {
  create(toy_, "a", json::Object{{"state", "DONE"}});
  create(toy_, "b", broken(3));
  const Outcome seen = wait_for({"a", "b"}, "running");
  EXPECT_EQ(seen.code, 0) << "it waited for no end";
  EXPECT_EQ(seen.out, "toys.toy.dev/a succeeded\ntoys.toy.dev/b failed\n");
}

TEST_F(Wait, WhatNeverFinishesIsWrongUsage) {
  create(api::config_maps(),
         json::Object{{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", json::Object{{"name", "c"}, {"namespace", "default"}}},
                      {"data", json::Object{{"mode", "fast"}}}});
  EXPECT_THAT(wait_for({"cm/c"}, "finished").err, HasSubstr("configmaps are never finished"));
  EXPECT_EQ(wait_for({"cm/c"}, "jsonpath={.data.mode}=fast").out, "configmaps/c condition met\n");
  EXPECT_EQ(wait_for({"cm/c"}, "done").code, 2);
}

// A job that is deleted as soon as it has ended (ttlSecondsAfterFinished: 0) has ended.
TEST_F(Wait, AnEndThatIsSeenWithTheDeletionCounts) {
  for (const auto& [status, code] :
       {std::pair(json::Value(json::Object{{"state", "DONE"}}), 0), std::pair(broken(5), 5),
        std::pair(json::Value(json::Object{{"state", "GOING"}}), 1)}) {
    create(toy_, "quick", json::Object{{"state", "GOING"}});
    rt::TaskScope scope(loop());
    scope.spawn(end_and_go(status));
    EXPECT_EQ(wait_for({"quick"}, "finished", std::chrono::seconds(20)).code, code);
    loop().run(scope.join());
    loop().run(scope.close());
  }
}

}  // namespace
}  // namespace muster::cli
