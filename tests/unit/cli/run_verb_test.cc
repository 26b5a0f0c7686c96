#include "run_fixture.h"

// What `run` says of what it follows, and how it ends.
namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(RunVerb, FollowsAllJobsOfAFileTogether) {
  struct Side {
    static Task<void> play(RunVerb& test, LiveErrors& told) {
      co_await told.until("Created  Toy default/gpt");
      co_await test.store_status(test.toy_, "gpt", failed_with(4));
      EXPECT_THAT(co_await told.until("Failed  gpt"), Not(HasSubstr("Succeeded")));
      co_await test.store_status(test.toy_, "bert", status_of("DONE"));
    }
  };
  const Outcome seen = run_it({.files = {file_of({"bert", "gpt"})}},
                              [&](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 4);
  EXPECT_THAT(seen.err, AllOf(HasSubstr("Created  Toy default/bert on this machine"),
                              HasSubstr("Failed  gpt after 0:00:0"), HasSubstr("Rank 1: exit 4"),
                              HasSubstr("Succeeded  bert in 0:00:0")));
}

TEST_F(RunVerb, TheCodeIsThatOfTheFirstToFail) {
  struct Side {
    static Task<void> play(RunVerb& test, LiveErrors& told) {
      co_await told.until("Created  Toy default/gpt");
      co_await test.store_status(test.toy_, "gpt", failed_with(4));
      co_await told.until("Failed  gpt");
      co_await test.store_status(test.toy_, "bert", failed_with(5));
    }
  };
  EXPECT_EQ(run_it({.files = {file_of({"bert", "gpt"})}},
                   [&](LiveErrors& told) { return Side::play(*this, told); })
                .code,
            4);
}

// What keeps a plane that nobody asked to stay: by name, or who wonders could only count.
TEST_F(RunVerb, SaysWhatElseIsUnfinishedByName) {
  struct Side {
    static Task<void> play(RunVerb& test, LiveErrors& told) {
      co_await test.succeeds(told, "bert");
    }
  };
  serve_for_commands({"default/a", "default/b", "ml/c", "ml/d", "ml/e"});
  const Outcome seen = run_it({.files = {file_of({"bert"})}},
                              [&](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.err, HasSubstr("\nUnfinished  default/a, default/b, ml/c and 2 more in the "
                                  "background: muster get -A\n"));
}

// ttlSecondsAfterFinished: 0. Nobody waits between the two.
TEST_F(RunVerb, AJobThatGoesAsItEndsHasEnded) {
  struct Side {
    static Task<void> play(RunVerb& test, LiveErrors& told, json::Value status) {
      co_await told.until("Created");
      co_await test.store_status(test.toy_, "bert", std::move(status));
      co_await test.remove("bert");
    }
  };
  const auto ends = [&](json::Value status) {
    return run_it({.files = {file_of({"bert"})}},
                  [this, status](LiveErrors& told) { return Side::play(*this, told, status); });
  };
  const Outcome good = ends(status_of("DONE"));
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.err, HasSubstr("Succeeded  bert"));
  EXPECT_EQ(ends(failed_with(9)).code, 9);
  const Outcome early = ends(status_of("GOING"));
  EXPECT_EQ(early.code, 125);
  EXPECT_THAT(early.err, HasSubstr("default/bert was deleted by somebody else"));
}

// Nobody saw its end: its pods have the last word.
TEST_F(RunVerb, AJobThatWentUnseenEndedAsItsPodsDid) {
  struct Side {
    static Task<void> play(RunVerb& test, LiveErrors& told, std::string last) {
      co_await told.until("Created");
      for (const char* name : {"bert-0", "bert-1", "bert-2"})
        co_await test.create_pod("bert", name, R"({"phase":"Succeeded"})");
      co_await test.create_pod("bert", "bert-3", std::move(last));
      co_await test.store_status(test.toy_, "bert", status_of("HELD"));
      co_await told.until("Suspended");  // all that is there was seen
      co_await test.remove("bert");
    }
  };
  const auto ends = [&](const std::string& last) {
    const Outcome seen = run_it({.files = {file_of({"bert"})}}, [this, last](LiveErrors& told) {
      return Side::play(*this, told, last);
    });
    for (const char* name : {"bert-0", "bert-1", "bert-2", "bert-3"})
      static_cast<void>(
          loop().run(cluster().remove(api::pods(), {.ns = "default", .name = name}, {})));
    return seen.code;
  };
  EXPECT_EQ(ends(R"({"phase":"Succeeded"})"), 0);
  EXPECT_EQ(ends(R"({"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":
      {"exitCode":8,"finishedAt":"2026-01-01T00:00:01Z"}}}]})"),
            8);
  EXPECT_EQ(ends(R"({"phase":"Running"})"), 125);
}

TEST_F(RunVerb, CtrlCStopsAll) {
  struct Side {
    static Task<void> play(LiveErrors& told) {
      co_await told.until("Created  Toy default/gpt");
      static_cast<void>(std::raise(SIGINT));
    }
  };
  const Outcome seen = run_it({.files = {file_of({"bert", "gpt"})}},
                              [](LiveErrors& told) { return Side::play(told); });
  EXPECT_EQ(seen.code, 130);
  EXPECT_THAT(seen.err, AllOf(HasSubstr("Stopping  bert, gpt (again to kill)"),
                              HasSubstr("Stopped  bert: 0 pods left"), HasSubstr("Stopped  gpt")));
  EXPECT_FALSE(exists(toy_, "bert"));
  EXPECT_FALSE(exists(toy_, "gpt"));
}

// Somebody else holds it by a finalizer.
TEST_F(RunVerb, AThirdCtrlCDoesNotWaitForWhatNeverGoes) {
  struct Side {
    static Task<void> play(RunVerb& test, LiveErrors& told) {
      co_await told.until("Created");
      co_await test.hold("bert");
      for (int i = 0; i < 3; ++i) static_cast<void>(std::raise(SIGINT));
    }
  };
  const Outcome seen = run_it({.files = {file_of({"bert"})}},
                              [&](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 130) << seen.err;
  EXPECT_TRUE(exists(toy_, "bert"));
}

TEST_F(RunVerb, AClosedTerminalDetaches) {
  struct Side {
    static Task<void> play(LiveErrors& told) {
      co_await told.until("Created");
      static_cast<void>(std::raise(SIGHUP));
    }
  };
  auto* const before = std::signal(SIGHUP, SIG_DFL);  // the tests themselves may run under nohup
  const Outcome seen =
      run_it({.files = {file_of({"bert"})}}, [](LiveErrors& told) { return Side::play(told); });
  static_cast<void>(std::signal(SIGHUP, before));
  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.err, HasSubstr("Detached  bert goes on; follow it again: muster attach bert"));
  EXPECT_TRUE(exists(toy_, "bert"));
}

TEST_F(RunVerb, SoDoesAReaderThatGoesAway) {
  struct Side {
    static Task<void> play(RunVerb& test, LiveErrors& told) {
      co_await told.until("Created");
      test.output().broken();
    }
  };
  EXPECT_EQ(run_it({.files = {file_of({"bert"})}},
                   [&](LiveErrors& told) { return Side::play(*this, told); })
                .code,
            0);
  EXPECT_TRUE(exists(toy_, "bert"));
}

TEST_F(RunVerb, DetachSaysHowToComeBack) {
  const std::string file = file_of({"bert"});
  const Outcome seen =
      outcome([&](Context& context) { return run(context, {.files = {file}, .detach = true}); });
  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.err, HasSubstr("    Attach  muster attach bert\n"
                                  "      Look  muster describe bert\n"
                                  "      Stop  muster delete bert\n"));
  EXPECT_TRUE(exists(toy_, "bert"));
}

TEST_F(RunVerb, RmTakesTheJobBackAtItsEnd) {
  const Outcome seen = run_it({.files = {file_of({"bert"})}, .remove = true},
                              [&](LiveErrors& told) { return succeeds(told, "bert"); });
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_FALSE(exists(toy_, "bert"));
}

TEST_F(RunVerb, TheResultIsAllThatIsOnStandardOutput) {
  const std::string report = home() + "/report.json";
  const std::string junit = home() + "/junit.xml";
  const Outcome seen =
      run_it({.files = {file_of({"bert"})}, .output = "json", .report = report, .junit = junit},
             [&](LiveErrors& told) { return succeeds(told, "bert"); });
  EXPECT_EQ(seen.code, 0) << seen.err;
  const auto result = json::read(seen.out);
  ASSERT_TRUE(result) << seen.out;
  EXPECT_EQ((*result)["state"].as_string(), "Succeeded");
  EXPECT_EQ((*result)["jobs"][0]["name"].as_string(), "bert");
  EXPECT_EQ((*result)["jobs"][0]["ranks"]["total"].as_int(), 4);
  EXPECT_EQ(content(report), seen.out);
  EXPECT_THAT(content(junit), HasSubstr("name=\"default/bert\""));
}

TEST_F(RunVerb, WhatCannotBeRunHasAResultToo) {
  const std::string report = home() + "/report.json";
  const Outcome seen = outcome([&](Context& context) {
    return run(context, {.files = {home() + "/none.yaml"}, .output = "json", .report = report});
  });
  EXPECT_EQ(seen.code, 125);
  EXPECT_EQ((*json::read(seen.out))["state"].as_string(), "Error");
  EXPECT_THAT(seen.err, HasSubstr("error: cannot read "));
}

TEST_F(RunVerb, AReportThatCannotBeWrittenIsSaidBeforeAnythingRuns) {
  const std::string file = file_of({"bert"});
  const Outcome seen = outcome([&](Context& context) {
    return run(context, {.files = {file}, .report = home() + "/no/such/place.json"});
  });
  EXPECT_EQ(seen.code, 125);
  EXPECT_THAT(seen.err, HasSubstr("/no/such/place.json"));
  EXPECT_FALSE(exists(toy_, "bert"));
}

// What a pod says by a condition ends the run, whatever its message is.
TEST_F(RunVerb, APodThatCanNeverStartEndsTheRun) {
  struct Side {
    static Task<void> play(RunVerb& test, LiveErrors& told) {
      co_await told.until("Created");
      co_await test.create_pod("bert", "bert-0", std::string(kCannotStart));
    }
  };
  const Outcome seen = run_it({.files = {file_of({"bert"})}},
                              [&](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 125);
  EXPECT_THAT(seen.err, HasSubstr("error: bert cannot run here: no program\n"));
  EXPECT_FALSE(exists(toy_, "bert"));
}

}  // namespace
}  // namespace muster::cli
