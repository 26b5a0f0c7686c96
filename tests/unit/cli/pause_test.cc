#include "cli/verbs/verbs.h"
#include "plan/plan.h"
#include "rt/scope.h"
#include "verb_fixture.h"

// `pause` and `resume` on a server where nothing runs by itself: the test plays the operator.
namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Pause : public VerbTest {
 public:
  using VerbTest::cluster;
  using VerbTest::loop;
  using VerbTest::store_status;

  Outcome pause_it(PauseOptions options) {
    return outcome([&](Context& context) { return pause(context, options); });
  }
  // The same while the operator does its part.
  Outcome pause_while(PauseOptions options, Task<void> operator_side) {
    rt::TaskScope scope(loop());
    scope.spawn(std::move(operator_side));
    const Outcome seen = pause_it(std::move(options));
    loop().run(scope.close());
    return seen;
  }
  Outcome resume_it(ResumeOptions options) {
    return outcome([&](Context& context) { return resume(context, options); });
  }
  [[nodiscard]] std::string wish(const std::string& name) {
    const auto job =
        loop().run(cluster().get(toy_.identity().resource, {.ns = "default", .name = name}));
    return job ? api::annotation_of(**job, plan::kSuspendAnnotation) : "gone";
  }
  // Once somebody asked for the pause.
  Task<void> asked(std::string name) {
    while (true) {
      const auto job =
          co_await cluster().get(toy_.identity().resource, {.ns = "default", .name = name});
      if (!job || api::annotation_of(**job, plan::kSuspendAnnotation) == "true") co_return;
      if (!co_await rt::sleep_for(loop(), std::chrono::milliseconds(1))) co_return;
    }
  }
  Task<void> remove_now(const api::Resource& resource, std::string name) {
    EXPECT_TRUE(
        co_await cluster().remove(resource, {.ns = "default", .name = name}, {.grace_seconds = 0}));
  }
  Task<void> hold(std::string name) {
    co_await asked(name);
    co_await store_status(toy_, name, json::Object{{"state", "HELD"}});
  }

  const ToyKind& toy_ = kind("Toy", "toy.dev");
};

TEST_F(Pause, IsDoneWhenNothingOfTheJobRuns) {
  create(toy_, "bert", json::Object{{"state", "GOING"}});
  create(api::pods(), rank(toy_, "bert", 0));
  create(api::pods(),
         rank(toy_, "bert", 1, json::Object{{"terminated", json::Object{{"exitCode", 0}}}}));
  const auto operate = [](Pause& it, CapturedOutput& output) -> Task<void> {
    co_await it.hold("bert");
    // Held, and yet one rank runs: a verb that does not look has time to say that it is done.
    static_cast<void>(co_await rt::sleep_for(it.loop(), std::chrono::milliseconds(30)));
    EXPECT_THAT(output.out, IsEmpty());
    co_await it.remove_now(api::pods(), "bert-rank-0");
  };
  const Outcome seen = pause_while({.words = {"bert"}}, operate(*this, output()));
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  EXPECT_EQ(seen.out, "toys.toy.dev \"bert\" paused\n");
}

TEST_F(Pause, WithoutWaitingOnlyAsks) {
  create(toy_, "bert", json::Object{{"state", "GOING"}});
  create(toy_, "gpt", json::Object{{"state", "GOING"}});
  const Outcome seen = pause_it({.words = {"toys/bert", "gpt"}, .wait = false});
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  EXPECT_EQ(seen.out, "toys.toy.dev \"bert\" paused\ntoys.toy.dev \"gpt\" paused\n");
  EXPECT_EQ(wish("bert"), "true");
  EXPECT_EQ(wish("gpt"), "true");
  const Outcome again = pause_it({.words = {"bert"}, .wait = false});
  EXPECT_EQ(again.code, exit_code::kOk) << again.err;
  const Outcome back = resume_it({.words = {"bert", "gpt"}});
  EXPECT_EQ(back.code, exit_code::kOk) << back.err;
  EXPECT_EQ(back.out, "toys.toy.dev \"bert\" resumed\ntoys.toy.dev \"gpt\" resumed\n");
  EXPECT_EQ(wish("bert"), "");
  EXPECT_EQ(wish("gpt"), "");
}

TEST_F(Pause, AJobThatHasEndedIsRefused) {
  create(toy_, "bert", json::Object{{"state", "DONE"}});
  const Outcome paused = pause_it({.words = {"bert"}});
  EXPECT_EQ(paused.code, exit_code::kFailed);
  EXPECT_EQ(paused.err, "error: bert has ended (succeeded): there is nothing to pause\n");
  const Outcome resumed = resume_it({.words = {"bert"}});
  EXPECT_EQ(resumed.code, exit_code::kFailed);
  EXPECT_EQ(resumed.err, "error: bert has ended (succeeded): there is nothing to resume\n");
}

TEST_F(Pause, AJobThatEndsMeanwhileIsNotPaused) {
  create(toy_, "bert", json::Object{{"state", "GOING"}});
  const auto end = [](Pause& it) -> Task<void> {
    co_await it.asked("bert");
    co_await it.store_status(it.toy_, "bert", json::Object{{"state", "BROKEN"}});
  };
  const Outcome seen = pause_while({.words = {"bert"}}, end(*this));
  EXPECT_EQ(seen.code, exit_code::kFailed);
  EXPECT_EQ(seen.err, "error: bert has ended (failed): there is nothing to pause\n");
  EXPECT_THAT(seen.out, IsEmpty());
}

TEST_F(Pause, SoIsOneThatSomebodyDeletes) {
  create(toy_, "bert", json::Object{{"state", "GOING"}});
  const auto take_away = [](Pause& it) -> Task<void> {
    co_await it.asked("bert");
    co_await it.remove_now(it.toy_.identity().resource, "bert");
  };
  const Outcome seen = pause_while({.words = {"bert"}}, take_away(*this));
  EXPECT_EQ(seen.code, exit_code::kFailed);
  EXPECT_EQ(seen.err, "error: bert was deleted\n");
}

TEST_F(Pause, AllOfThemOrNone) {
  create(toy_, "bert", json::Object{{"state", "GOING"}});
  const Outcome seen = pause_it({.words = {"bert", "nobody"}});
  EXPECT_EQ(seen.code, exit_code::kFailed);
  EXPECT_THAT(seen.err, HasSubstr("nobody"));
  EXPECT_EQ(wish("bert"), "");
}

TEST_F(Pause, OnlyJobsCanBePaused) {
  const Outcome pods = pause_it({.words = {"pods/a"}});
  EXPECT_EQ(pods.code, exit_code::kUsage);
  EXPECT_THAT(pods.err, HasSubstr("pods"));
  EXPECT_EQ(resume_it({.words = {"nodes/box"}}).code, exit_code::kUsage);
}

}  // namespace
}  // namespace muster::cli
