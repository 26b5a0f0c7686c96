#include "run_fixture.h"

// `attach` follows what somebody else made: it takes nothing away.
namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(RunVerb, AttachFollowsToTheEndAndCtrlCOnlyDetaches) {
  struct Side {
    static Task<void> interrupt(LiveErrors& told) {
      co_await told.until("Attached");
      static_cast<void>(std::raise(SIGINT));
    }
    static Task<void> end(RunVerb& test, LiveErrors& told) {
      co_await told.until("Attached");
      co_await test.store_status(test.toy_, "bert", failed_with(6));
    }
  };
  create(toy_, "bert");
  const auto verb = [](Context& context) { return attach(context, {.words = {"bert"}}); };
  const Outcome away = play(verb, [](LiveErrors& told) { return Side::interrupt(told); });
  EXPECT_EQ(away.code, 0);
  EXPECT_TRUE(exists(toy_, "bert"));
  const Outcome ended = play(verb, [&](LiveErrors& told) { return Side::end(*this, told); });
  EXPECT_EQ(ended.code, 6);
  EXPECT_THAT(ended.err, Not(HasSubstr("again  "))) << "what made it is not known";
}

// A server's pod is started again for ever, and was once already.
TEST_F(RunVerb, AttachDoesNotEndWithARunOfAPodThatIsStartedAgain) {
  struct Side {
    static Task<void> play(RunVerb& test, LiveErrors& told) {
      co_await told.until("Attached");
      co_await test.set_pod_status(
          "web", *json::read(R"({"phase":"Running","containerStatuses":[{"name":"main",
          "ready":true,"restartCount":2,"state":{"running":{}},
          "lastState":{"terminated":{"exitCode":3,"finishedAt":"2026-01-01T00:00:01Z"}}}]})"));
      co_await told.until("Started  web");
      static_cast<void>(std::raise(SIGINT));
    }
  };
  json::Value web = pod("web");
  web["spec"]["restartPolicy"] = "Always";
  create(api::pods(), std::move(web));
  const Outcome seen =
      play([](Context& context) { return attach(context, {.words = {"pods/web"}}); },
           [&](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_THAT(seen.err, AllOf(HasSubstr("Detached  web goes on"), Not(HasSubstr("Failed"))));
  EXPECT_TRUE(loop().run(cluster().get(api::pods(), {.ns = "default", .name = "web"})));
}

TEST_F(RunVerb, AttachSaysThatAJobCanNeverRunAndLeavesIt) {
  struct Side {
    static Task<void> play(RunVerb& test, LiveErrors& told) {
      co_await told.until("Attached");
      co_await test.create_pod("bert", "bert-0", std::string(kCannotStart));
    }
  };
  create(toy_, "bert");
  const Outcome seen = play([](Context& context) { return attach(context, {.words = {"bert"}}); },
                            [&](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 125);
  EXPECT_THAT(seen.err, HasSubstr("error: bert cannot run here: no program\n"));
  EXPECT_TRUE(exists(toy_, "bert"));
}

}  // namespace
}  // namespace muster::cli
