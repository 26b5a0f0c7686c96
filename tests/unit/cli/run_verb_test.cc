#include <csignal>
#include <fstream>
#include <sstream>

#include "api/waiting.h"
#include "cli/verbs/verbs.h"
#include "json/read.h"
#include "json/write.h"
#include "live_errors.h"
#include "rt/scope.h"

// `run` and `attach` on a server where nothing runs by itself: the test plays the cluster.
namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

json::Value status_of(const std::string& state, std::optional<plan::Cause> cause = {}) {
  plan::Ledger ledger;
  ledger.cause = std::move(cause);
  return json::Object{{"state", state}, {std::string(plan::kStatusKey), ledger.to_json()}};
}

json::Value failed_with(int code) {
  return status_of("BROKEN",
                   plan::Cause{.role = "Rank", .index = 1, .pod = "p", .exit_code = code});
}

class RunVerb : public VerbTest {
 public:
  using VerbTest::cluster;
  using VerbTest::output;
  using VerbTest::store_status;
  using Play = std::function<Task<void>(LiveErrors&)>;

  std::string file_of(const std::vector<std::string>& names) {
    const std::string path = home() + "/jobs.yaml";
    std::ofstream file(path);
    for (const std::string& name : names) file << json::write(toy_.job(name)) << "\n---\n";
    return path;
  }
  Outcome play(const std::function<Task<int>(Context&)>& verb, const Play& cluster_side) {
    LiveErrors told(loop(), output());
    rt::TaskScope scope(loop());
    scope.spawn(cluster_side(told));
    const Outcome seen = outcome(verb);
    loop().run(scope.close());
    return seen;
  }
  Outcome run_it(RunOptions options, const Play& cluster_side) {
    return play([&](Context& context) { return run(context, options); }, cluster_side);
  }
  Task<void> remove(std::string name) {
    const auto removed =
        co_await cluster().remove(toy_.identity().resource, {.ns = "default", .name = name}, {});
    // A run that has seen the end may be faster than we are.
    EXPECT_TRUE(removed || removed.error().code == ErrorCode::Cancelled);
  }
  // A pod of a job, with this status.
  Task<void> create_pod(std::string job_name, std::string name, std::string status) {
    const auto job = co_await cluster().get(toy_.identity().resource,
                                            {.ns = "default", .name = std::move(job_name)});
    json::Value pod = *json::read(R"({"metadata":{"namespace":"default"},
        "spec":{"containers":[{"name":"c","image":"i"}]}})");
    pod["metadata"]["name"] = name;
    pod["metadata"]["labels"][std::string(plan::labels::kJobUid)] = api::uid_of(**job);
    const auto made = co_await cluster().create(api::pods(), std::move(pod));
    EXPECT_TRUE(made);
    json::Value changed = **made;
    changed["status"] = *json::read(status);
    EXPECT_TRUE(co_await cluster().update_status(api::pods(), std::move(changed)));
  }
  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  Task<void> succeeds(LiveErrors& told, std::string name) {
    co_await told.until("Created");
    co_await store_status(toy_, name, status_of("DONE"));
  }

  const ToyKind& toy_ = kind("Toy", "toy.dev");
};

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

TEST_F(RunVerb, AClosedTerminalDetaches) {
  struct Side {
    static Task<void> play(LiveErrors& told) {
      co_await told.until("Created");
      static_cast<void>(std::raise(SIGHUP));
    }
  };
  const Outcome seen =
      run_it({.files = {file_of({"bert"})}}, [](LiveErrors& told) { return Side::play(told); });
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
      co_await test.create_pod("bert", "bert-0", R"({"phase":"Pending",
          "conditions":[{"type":"muster.dev/CannotStart","status":"True",
                         "reason":"InvalidContainer","message":"no program"}],
          "containerStatuses":[{"name":"c","state":{"waiting":
              {"reason":"CreateContainerConfigError","message":"no program"}}}]})");
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
