#include <fstream>

#include "cli/verbs/verbs.h"
#include "json/write.h"
#include "live_errors.h"
#include "rt/scope.h"

// Verbs with a kind whose status has a shape of its own.
namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

json::Value status_of(const std::string& state, std::optional<plan::Cause> cause = {}) {
  plan::Ledger ledger;
  ledger.cause = std::move(cause);
  json::Value muster = ledger.to_json();
  muster["ranks"] = "1/4";
  return json::Object{
      {"state", state}, {"remark", "so it is"}, {std::string(plan::kStatusKey), muster}};
}

class OtherStatus : public VerbTest {
 protected:
  Outcome wait_for(const std::string& condition) {
    return outcome([&](Context& context) {
      return wait(
          context,
          {.words = {"bert"}, .condition = condition, .timeout = std::chrono::milliseconds(50)});
    });
  }
  const ToyKind& toy_ = kind("Toy", "toy.dev");
};

TEST_F(OtherStatus, IsListed) {
  create(toy_, "bert", status_of("GOING"));
  create(toy_, "gpt", status_of("HELD"));
  const Outcome seen = outcome([](Context& context) { return get(context, {.output = "wide"}); });
  // Its status says 1/4; but no pod is there now.
  EXPECT_THAT(seen.out, ::testing::ContainsRegex("bert +Toy +Running +0/4 +0 +[0-9]+s +ToyGOING"));
  EXPECT_THAT(seen.out, ::testing::ContainsRegex("gpt +Toy +Suspended +0/4"));
}

TEST_F(OtherStatus, IsDescribed) {
  create(toy_, "bert",
         status_of("BROKEN", plan::Cause{.role = "Rank", .index = 2, .pod = "p", .exit_code = 3}));
  const Outcome seen =
      outcome([](Context& context) { return describe(context, {.words = {"bert"}}); });
  EXPECT_THAT(seen.out, AllOf(HasSubstr("State:       Failed\n"), HasSubstr("Ranks:       1/4\n"),
                              HasSubstr("Message:     so it is\n"), HasSubstr("Rank 2"),
                              HasSubstr("exit 3"), HasSubstr("Conditions:\n  none\n")));
}

TEST_F(OtherStatus, WaitEndsWithTheJobsExitCode) {
  create(toy_, "bert", status_of("DONE"));
  const Outcome done = wait_for("finished");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "toys.toy.dev/bert succeeded\n");
  set_status(toy_, "bert", status_of("BROKEN", plan::Cause{.pod = "p", .exit_code = 3}));
  EXPECT_EQ(wait_for("finished").code, 3);
  EXPECT_EQ(wait_for("running").code, 0) << "it will never be more than that";
}

TEST_F(OtherStatus, WaitGoesOnWhileTheJobIsSuspended) {
  create(toy_, "bert", status_of("HELD"));
  for (const char* condition : {"finished", "running"}) {
    const Outcome seen = wait_for(condition);
    EXPECT_EQ(seen.code, 124);
    EXPECT_THAT(seen.err, HasSubstr("it is suspended"));
  }
  set_status(toy_, "bert", status_of("GOING"));
  EXPECT_EQ(wait_for("running").code, 0);
}

class AttachedToOtherStatus : public OtherStatus {
 protected:
  // What the cluster does with the job, each step once the one before was told.
  Task<void> play(LiveErrors& told) {
    EXPECT_THAT(co_await told.until("Created"), HasSubstr("Toy default/bert"));
    co_await store_status(toy_, "bert", status_of("HELD"));
    EXPECT_THAT(co_await told.until("Suspended"), HasSubstr("to go on: muster resume bert"));
    co_await store_status(toy_, "bert", status_of("GOING"));
    EXPECT_THAT(co_await told.until("Resumed"), HasSubstr("Resumed  bert"));
    co_await store_status(toy_, "bert",
                          status_of("BROKEN", plan::Cause{.pod = "p", .exit_code = 7}));
  }
};

TEST_F(AttachedToOtherStatus, RunWaitsOutASuspensionAndEndsWithTheJobsExitCode) {
  const std::string file = home() + "/job.json";
  std::ofstream(file) << json::write(toy_.job("bert"));
  LiveErrors told(loop(), output());
  rt::TaskScope scope(loop());
  scope.spawn(play(told));
  const Outcome seen = outcome([&](Context& context) { return run(context, {.files = {file}}); });
  loop().run(scope.close());
  EXPECT_EQ(seen.code, 7);
}

}  // namespace
}  // namespace muster::cli
