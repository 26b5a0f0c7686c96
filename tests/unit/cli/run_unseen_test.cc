#include <csignal>

#include "cli/history/run_record.h"
#include "log_files.h"
#include "run_fixture.h"

// What `run` makes of what it was not told, or not told in time.
namespace muster::cli {
namespace {

using ::testing::HasSubstr;

class RunUnseen : public RunVerb {};

// Its end was seen by nobody: what is left of it decides, if that is all of it.
TEST_F(RunUnseen, AJobThatWentUnseenNeedsAllItsRanksAndEndedWithTheFirstFailure) {
  struct Side {
    static std::string failed(int code, int second) {
      return fmt::format(R"({{"phase":"Failed","containerStatuses":[{{"name":"c","state":
          {{"terminated":{{"exitCode":{},"finishedAt":"2026-01-01T00:00:0{}Z"}}}}}}]}})",
                         code, second);
    }
    static Task<void> play(RunUnseen& test, LiveErrors& told, std::vector<std::string> pods) {
      co_await told.until("Created");
      for (std::size_t i = 0; i < pods.size(); ++i)
        co_await test.create_pod("bert", fmt::format("bert-{}", i), pods[i]);
      co_await test.store_status(test.toy_, "bert", status_of("HELD"));
      co_await told.until("Suspended");  // all that is there was seen
      co_await test.remove("bert");
    }
  };
  const std::string good = R"({"phase":"Succeeded"})";
  const auto ends = [&](std::vector<std::string> pods) {
    const Outcome seen = run_it({.files = {file_of({"bert"})}}, [this, pods](LiveErrors& told) {
      return Side::play(*this, told, pods);
    });
    for (std::size_t i = 0; i < pods.size(); ++i) loop().run(remove_pod(fmt::format("bert-{}", i)));
    return seen.code;
  };
  EXPECT_EQ(ends({good, good, good}), 125);
  EXPECT_EQ(ends({good, Side::failed(5, 3), Side::failed(6, 2), Side::failed(7, 4)}), 6);
}

// A pod that came and went while the plane was away: its record and its log are here.
TEST_F(RunUnseen, LinesOfPodsThatNobodyWasToldOfAreShown) {
  struct Side {
    static Task<void> play(RunUnseen& test, LiveErrors& told) {
      co_await told.until("Created");
      const auto job = co_await test.cluster().get(test.toy_.identity().resource,
                                                   {.ns = "default", .name = "bert"});
      const std::string& uid = api::uid_of(**job);
      EXPECT_TRUE(
          append_line(test.home(), uid,
                      begin_line({.ns = "default", .name = "bert", .kind = "Toy", .uid = uid})));
      EXPECT_TRUE(append_line(
          test.home(), uid,
          pod_line({.name = "bert-0", .uid = "gone", .role = "Rank", .containers = {"c"}})));
      append_log(test.home(), "default_bert-0_gone", "c/0.log", record(1, "quick"));
      co_await test.store_status(test.toy_, "bert", status_of("DONE"));
    }
  };
  const Outcome seen = run_it({.files = {file_of({"bert"})}},
                              [this](LiveErrors& told) { return Side::play(*this, told); });
  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.out, HasSubstr("quick\n"));
}

// nohup: whoever ignores the signal wants to see the end.
TEST_F(RunUnseen, AnIgnoredHangUpDetachesNothing) {
  struct Side {
    static Task<void> play(RunUnseen& test, LiveErrors& told) {
      co_await told.until("Created");
      static_cast<void>(std::raise(SIGHUP));
      co_await test.store_status(test.toy_, "bert", status_of("HELD"));
      co_await told.until("Suspended");
      co_await test.store_status(test.toy_, "bert", status_of("DONE"));
    }
  };
  auto* const before = std::signal(SIGHUP, SIG_IGN);
  const Outcome seen = run_it({.files = {file_of({"bert"})}},
                              [this](LiveErrors& told) { return Side::play(*this, told); });
  static_cast<void>(std::signal(SIGHUP, before));
  EXPECT_THAT(seen.err, HasSubstr("Succeeded  bert"));
}

}  // namespace
}  // namespace muster::cli
