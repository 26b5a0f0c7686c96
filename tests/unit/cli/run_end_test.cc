#include <csignal>

#include "cli/jobs/wait_deleted.h"
#include "log_files.h"
#include "run_fixture.h"

// What `run` makes of pods by themselves, of waiting, of failures and of a plane that goes away.
namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class RunEnd : public RunVerb {
 public:
  std::string file_with(const std::string& text) {
    const std::string path = home() + "/other.yaml";
    std::ofstream(path) << text;
    return path;
  }
  std::string pod_file(const std::string& spec) {
    return file_with("apiVersion: v1\nkind: Pod\nmetadata: {name: solo}\nspec: {" + spec +
                     "containers: [{name: c, image: x, command: [ls]}]}\n");
  }
  // A run of these files whose pod says this as soon as it is there.
  Outcome run_pod(const std::string& spec, const std::string& status) {
    return run_it({.files = {pod_file(spec)}},
                  [this, status](LiveErrors& told) { return pod_ends(told, status); });
  }
  Task<void> pod_ends(LiveErrors& told, std::string status) {
    co_await told.until("Created");
    policy_ = (**co_await get_pod("solo"))["spec"]["restartPolicy"].as_string();
    co_await set_pod_status("solo", *json::read(status));
  }
  // The job has a pod and is held, and the run says so.
  Task<void> hold(LiveErrors& told) {
    co_await told.until("Created");
    co_await create_pod("bert", "bert-0", R"({"phase":"Running"})", "here");
    co_await store_status(toy_, "bert", status_of("HELD"));
    co_await told.until("Suspended");
  }
  bool has(const api::Resource& resource, const std::string& name) {
    return loop().run(cluster().get(resource, {.ns = "default", .name = name})).has_value();
  }

  std::string policy_;
};

TEST_F(RunEnd, APodRunsOnceAndEndsWithItsCode) {
  const Outcome seen = run_pod("", R"({"phase":"Failed","containerStatuses":[{"name":"c",
      "state":{"terminated":{"exitCode":7,"finishedAt":"2026-01-01T00:00:01Z"}}}]})");
  EXPECT_EQ(seen.code, 7) << seen.err;
  EXPECT_EQ(policy_, "Never");
  EXPECT_TRUE(has(api::pods(), "solo"));
}

TEST_F(RunEnd, APodThatWouldBeStartedForEverIsNotLeftBehind) {
  const Outcome seen = run_pod("restartPolicy: Always, ", R"({"phase":"Running",
      "containerStatuses":[{"name":"c","restartCount":1,
        "state":{"waiting":{"reason":"CrashLoopBackOff"}},
        "lastState":{"terminated":{"exitCode":9,"finishedAt":"2026-01-01T00:00:01Z"}}}]})");
  EXPECT_EQ(seen.code, 9) << seen.err;
  EXPECT_EQ(policy_, "Always");
  EXPECT_THAT(seen.err, HasSubstr("Stopping  solo: its restartPolicy is Always"));
  EXPECT_FALSE(has(api::pods(), "solo"));
}

constexpr const char* kNeverFits = R"({"phase":"Pending","conditions":[
    {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"too big."},
    {"type":"muster.dev/CannotStart","status":"True","reason":"NeverFits","message":"too big."}]})";

// Somebody may add a node, or give it more.
TEST_F(RunEnd, WhatNeverFitsIsWaitedForWhereThePlaneStays) {
  struct Side {
    static Task<void> play(RunEnd& test, LiveErrors& told) {
      co_await told.until("Created");
      co_await test.create_pod("bert", "bert-0", kNeverFits);
      co_await told.until("Waiting");
      co_await test.create_pod("bert", "bert-1", kNeverFits);
      co_await test.store_status(test.toy_, "bert", status_of("HELD"));
      co_await told.until("Suspended");  // it has seen all of it
      co_await test.store_status(test.toy_, "bert", status_of("DONE"));
    }
  };
  const Outcome seen = run_it({.files = {file_of({"bert"})}},
                              [this](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_THAT(seen.err, HasSubstr("   Waiting  bert (1 of its pods, NeverFits): too big. Ask for "
                                  "less, or run it elsewhere.\n"));
  const auto first = seen.err.find("Waiting");
  EXPECT_EQ(seen.err.find("Waiting", first + 1), std::string::npos) << "once for each reason";
}

TEST_F(RunEnd, WhatNeverFitsOnAMachineOfItsOwnEndsIt) {
  struct Side {
    static Task<void> play(RunEnd& test, LiveErrors& told) {
      co_await told.until("Created");
      co_await test.create_pod("bert", "bert-0", kNeverFits);
    }
  };
  serve_for_commands({"default/other"});
  const Outcome seen = run_it({.files = {file_of({"bert"})}},
                              [this](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 125);
  EXPECT_THAT(seen.err, AllOf(HasSubstr("error: bert cannot run here: too big. Ask for less"),
                              HasSubstr("Unfinished  default/other in the background")));
  EXPECT_FALSE(exists(toy_, "bert"));
}

TEST_F(RunEnd, WhatRunsOnIsStoppedWithItsPlaneAndWhatHasEndedStays) {
  struct Side {
    static Task<void> play(RunEnd& test, LiveErrors& told) {
      co_await told.until("Created");
      co_await test.create_pod("bert", "bert-0", R"({"phase":"Running"})");
      co_await test.create_pod("bert", "bert-1", R"({"phase":"Succeeded"})");
      co_await test.store_status(test.toy_, "bert", status_of("DONE"));
    }
  };
  serve_for_commands({"default/other"});
  const Outcome seen = run_it({.files = {file_of({"bert"})}},
                              [this](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_FALSE(has(api::pods(), "bert-0"));
  EXPECT_TRUE(has(api::pods(), "bert-1"));
}

TEST_F(RunEnd, AFailureSaysTheLastLinesWhoWasStoppedAndHowToTryAgain) {
  struct Side {
    static Task<void> play(RunEnd& test, LiveErrors& told) {
      co_await told.until("Created");
      co_await test.create_pod("bert", "bert-0", R"({"phase":"Running"})", "here");
      const auto bad = co_await test.create_pod("bert", "bert-1", R"({"phase":"Failed",
          "muster":{"lostFiles":3}})",
                                                "here");
      append_log(test.home(), "default_bert-1_" + api::uid_of(*bad), "c/0.log",
                 record(1, "Traceback") + record(2, "KeyError"));
      co_await test.remove_pod("bert-0", 30);
      plan::Cause cause{.role = "Rank", .index = 1, .pod = "bert-1", .exit_code = 4};
      co_await test.store_status(test.toy_, "bert", status_of("BROKEN", cause));
      co_await test.remove_pod("bert-0");
    }
  };
  const std::string file = file_of({"bert"});
  const Outcome seen = play(
      [&](Context& context) {
        context.typed = "muster run jobs.yaml";
        context.color = "always";
        return run(context, {.files = {file}});
      },
      [this](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 4);
  EXPECT_THAT(seen.err, AllOf(HasSubstr("\x1b[31m    Failed  bert after 0:00:0"),
                              HasSubstr("Rank 1: exit 4\x1b[0m\n"),
                              HasSubstr("              Traceback\n              KeyError\n"),
                              HasSubstr("  stopped     Rank 0, because of it\n"),
                              HasSubstr("  again       muster run jobs.yaml\n"),
                              HasSubstr("      Lost  3 files written below")));
}

TEST_F(RunEnd, IsRedOnlyWhereThatIsWanted) {
  struct Side {
    static Task<void> play(RunEnd& test, LiveErrors& told) {
      co_await told.until("Created");
      co_await test.store_status(test.toy_, "bert", failed_with(4));
    }
  };
  const auto fails = [&](const std::string& color, const std::string& variable) {
    const std::string file = file_of({"bert"});
    return play(
               [&](Context& context) {
                 context.color = color;
                 context.environment = {{"FORCE_COLOR", "1"}, {variable, "1"}};
                 return run(context, {.files = {file}});
               },
               [this](LiveErrors& told) { return Side::play(*this, told); })
        .err;
  };
  EXPECT_THAT(fails("auto", "X"), HasSubstr("\x1b[31m    Failed"));
  EXPECT_THAT(fails("auto", "NO_COLOR"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(fails("never", "X"), Not(HasSubstr("\x1b")));
}

TEST_F(RunEnd, ASecondCtrlCDoesNotWait) {
  struct Side {
    static Task<void> play(RunEnd& test, LiveErrors& told) {
      co_await test.hold(told);
      static_cast<void>(std::raise(SIGINT));
      co_await told.until("Stopping");
      co_await test.remove_pod("bert-0", 30);
      static_cast<void>(std::raise(SIGINT));
      std::int64_t grace = 30;
      for (int i = 0; i < 1000 && grace != 1; ++i) {
        static_cast<void>(co_await rt::sleep_for(test.loop(), std::chrono::milliseconds(5)));
        grace =
            (**co_await test.get_pod("bert-0"))["metadata"]["deletionGracePeriodSeconds"].as_int();
      }
      EXPECT_EQ(grace, 1);
      co_await test.remove_pod("bert-0");
    }
  };
  const Outcome seen = run_it({.files = {file_of({"bert"})}},
                              [this](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 130);
}

TEST_F(RunEnd, ASecondCtrlCEndsItWhereNothingCanBeDeleted) {
  struct Side {
    static Task<void> play(RunEnd& test, LiveErrors& told) {
      co_await test.hold(told);
      test.served().fill_disk();
      static_cast<void>(std::raise(SIGINT));
      co_await told.until("the disk is full");
      static_cast<void>(std::raise(SIGINT));
    }
  };
  const Outcome seen = run_it({.files = {file_of({"bert"})}},
                              [this](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 130);
  EXPECT_TRUE(exists(toy_, "bert"));
}

// A pod that no owner takes along stands for one that the collector has not come to.
TEST_F(RunEnd, AWaitForTheCollectorIsSaidOfAClusterAndOnlyThere) {
  struct Side {
    static Task<void> play(RunEnd& test, LiveErrors& told, bool on_cluster) {
      co_await test.hold(told);
      static_cast<void>(std::raise(SIGINT));
      co_await told.until("Stopping");
      if (on_cluster) {
        co_await told.until("garbage collector");
      } else {  // longer than what `run` waits for before it would say so
        static_cast<void>(
            co_await rt::sleep_for(test.loop(), kCollectorPatience + std::chrono::seconds(1)));
      }
      co_await test.remove_pod("bert-0");
    }
  };
  for (const bool on_cluster : {true, false}) {
    const std::string file = file_of({"bert"});
    const Outcome seen = play(
        [&](Context& context) {
          if (on_cluster) context.kubeconfig = kubeconfig();
          return run(context, {.files = {file}});
        },
        [&](LiveErrors& told) { return Side::play(*this, told, on_cluster); });
    EXPECT_EQ(seen.code, 130);
    const auto note = HasSubstr(
        "   Waiting  bert is deleted, 1 of its pods not yet: waiting for the cluster's garbage "
        "collector, which may need 40 s to learn of a kind whose CRD is new\n");
    if (on_cluster)
      EXPECT_THAT(seen.err, note);
    else
      EXPECT_THAT(seen.err, Not(HasSubstr("collector")));
  }
}

TEST_F(RunEnd, CtrlCTakesBackWhatTheFileMadeButNoData) {
  struct Side {
    static Task<void> play(LiveErrors& told) {
      co_await told.until("Created");
      static_cast<void>(std::raise(SIGINT));
    }
  };
  const std::string beside = file_with(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: one}\n---\n"
      "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
      "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n");
  const Outcome seen = run_it({.files = {beside, file_of({"bert"})}},
                              [](LiveErrors& told) { return Side::play(told); });
  EXPECT_EQ(seen.code, 130);
  EXPECT_FALSE(has(api::config_maps(), "settings"));
  EXPECT_TRUE(has(api::persistent_volume_claims(), "data"));
  EXPECT_THAT(seen.err, HasSubstr("      Kept  PersistentVolumeClaim default/data; delete it with: "
                                  "muster delete persistentvolumeclaims data\n"));
}

TEST_F(RunEnd, AllOfAFileIsCreatedOrNothing) {
  const std::string file = file_of({"bert", "bert"});
  const Outcome seen = outcome([&](Context& context) { return run(context, {.files = {file}}); });
  EXPECT_EQ(seen.code, 125);
  EXPECT_FALSE(exists(toy_, "bert"));
}

TEST_F(RunEnd, AKindThatTheServerDoesNotKnowIsToBeInstalled) {
  const ToyKind& ghost = kind("Ghost", "ghost.dev", Where::OnlyKnown);
  const std::string file = file_with(json::write(ghost.job("bert")));
  const Outcome seen = outcome([&](Context& context) { return run(context, {.files = {file}}); });
  EXPECT_EQ(seen.code, 125);
  EXPECT_THAT(seen.err, HasSubstr("the cluster does not know ghosts.ghost.dev; install it with: "
                                  "kubectl apply --server-side -f deploy/install.yaml"));
}

TEST_F(RunEnd, AReportThatIsNotWrittenAtTheEndIsAnErrorOfOurs) {
  struct Side {
    static Task<void> play(RunEnd& test, LiveErrors& told) {
      co_await told.until("Created");
      std::filesystem::remove_all(test.home() + "/reports");
      co_await test.store_status(test.toy_, "bert", status_of("DONE"));
    }
  };
  std::filesystem::create_directory(home() + "/reports");
  const Outcome seen =
      run_it({.files = {file_of({"bert"})}, .report = home() + "/reports/result.json"},
             [this](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 125);
  EXPECT_THAT(seen.err, AllOf(HasSubstr("Succeeded  bert"), HasSubstr("error: cannot write ")));
}

TEST_F(RunEnd, APlaneThatCannotGoOnEndsItWithTheReason) {
  struct Side {
    static Task<void> play(RunEnd& test, LiveErrors& told) {
      co_await told.until("Created");
      co_await test.served().sessions().finish(
          Error{.code = ErrorCode::Io, .message = "the disk is full"});
    }
  };
  const Outcome seen = run_it({.files = {file_of({"bert"})}},
                              [this](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 125);
  EXPECT_THAT(seen.err, HasSubstr("the disk is full"));
}

}  // namespace
}  // namespace muster::cli
