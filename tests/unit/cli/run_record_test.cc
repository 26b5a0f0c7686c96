#include "cli/history/run_record.h"

#include "bare_context.h"
#include "cli/history/quota.h"
#include "log_files.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Time at(int second) {
  return Time{std::chrono::seconds(1'790'000'000 + second)};
}

class History : public LogFiles {
 protected:
  // A run with one pod, whose log has so many bytes; ended at that second, or not at all.
  void run(const std::string& uid, std::optional<int> ended, std::size_t bytes = 10) {
    ASSERT_TRUE(append_line(
        home_, uid,
        begin_line({.ns = "ml", .name = "bert", .kind = "MSJob", .uid = uid, .created = at(0)})));
    const RecordedPod pod{.name = "bert-worker-0", .uid = uid + "-pod", .role = "Worker"};
    ASSERT_TRUE(append_line(home_, uid, pod_line(pod)));
    append("ml_bert-worker-0_" + uid + "-pod", "main/0.log", std::string(bytes, 'x'));
    if (ended)
      ASSERT_TRUE(append_line(home_, uid, end_line({.result = "Succeeded", .ended = at(*ended)})));
  }
  [[nodiscard]] std::vector<std::string> kept() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(home_ + "/logs"))
      names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
};

TEST_F(History, IsReadAsItWasWritten) {
  const RunRecord run{.ns = "ml",
                      .name = "bert",
                      .kind = "MSJob",
                      .resource = "msjobs.mindspore.gitee.com",
                      .uid = "0a1b2c3d-4e5f",
                      .created = at(1)};
  ASSERT_TRUE(append_line(home_, run.uid, begin_line(run)));
  RecordedPod pod{.name = "bert-worker-3",
                  .uid = "p3",
                  .role = "Worker",
                  .index = 3,
                  .containers = {"main", "side"}};
  ASSERT_TRUE(append_line(home_, run.uid, pod_line(pod)));
  pod.exit_code = 7;
  pod.failed = true;
  ASSERT_TRUE(append_line(home_, run.uid, pod_line(pod)));
  ASSERT_TRUE(append_line(home_, run.uid,
                          end_line({.result = "Failed",
                                    .exit_code = 7,
                                    .message = "a rank failed",
                                    .cause = "Worker 3: exit 7",
                                    .started = at(2),
                                    .ended = at(9),
                                    .ranks = 4,
                                    .restarts = 2})));
  const auto read = read_record(home_, run.uid);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id(), "0a1b2c3d");
  EXPECT_EQ(read->resource, run.resource);
  EXPECT_EQ(read->created, at(1));
  ASSERT_EQ(read->pods.size(), 1U) << "the last line about a pod counts";
  EXPECT_EQ(read->pods[0].index, 3);
  EXPECT_EQ(read->pods[0].exit_code, 7);
  EXPECT_TRUE(read->pods[0].failed);
  EXPECT_THAT(read->pods[0].containers, ElementsAre("main", "side"));
  ASSERT_TRUE(read->end);
  EXPECT_EQ(read->end->result, "Failed");
  EXPECT_EQ(*read->end->ended - *read->end->started, std::chrono::seconds(7));
  EXPECT_EQ(read->end->ranks, 4);
  EXPECT_EQ(read_record(home_, "other").error().code, ErrorCode::NotFound);
}

TEST_F(History, ATornLineIsPassedOver) {
  run("u", 5);
  std::ofstream(record_path(home_, "u"), std::ios::app) << "{\"pod\": {\"na";
  ASSERT_TRUE(append_line(home_, "u", pod_line({.name = "late", .uid = "l"})));
  const auto read = read_record(home_, "u");
  EXPECT_EQ(read->pods.size(), 2U);
  EXPECT_TRUE(read->end);
}

TEST_F(History, TheRunThatEndedFirstGoesFirst) {
  run("a", 30, 1000);
  run("b", 10, 1000);
  run("c", 20, 1000);
  keep_within(home_, {.bytes = 1'000'000, .runs = 2}, {});
  EXPECT_THAT(kept(), ElementsAre("ml_bert-worker-0_a-pod", "ml_bert-worker-0_c-pod"));
  EXPECT_FALSE(read_record(home_, "b"));
  keep_within(home_, {.bytes = 1900, .runs = 200}, {});
  EXPECT_THAT(kept(), ElementsAre("ml_bert-worker-0_a-pod"));
}

TEST_F(History, WhatRunsIsNeverLetGo) {
  run("a", std::nullopt, 5000);
  run("b", 10, 10);
  EXPECT_THAT(keep_within(home_, {.bytes = 100, .runs = 0}, {"a"}), IsEmpty());
  EXPECT_THAT(kept(), ElementsAre("ml_bert-worker-0_a-pod"));
  // Its job is over, but a pod of it still runs.
  EXPECT_THAT(keep_within(home_, {.bytes = 100, .runs = 0}, {"a-pod"}), IsEmpty());
  EXPECT_THAT(kept(), ElementsAre("ml_bert-worker-0_a-pod"));
}

// The files are looked at a moment after it was asked what lives.
TEST_F(History, WhatBeganMeanwhileIsNotLetGo) {
  run("a", std::nullopt, 5000);
  append("ml_new_u", "main/0.log", std::string(1000, 'x'));
  const Time before_both = read_record(home_, "a")->created;
  EXPECT_THAT(keep_within(home_, {.bytes = 100, .runs = 0}, {}, before_both), IsEmpty());
  EXPECT_THAT(kept(), ElementsAre("ml_bert-worker-0_a-pod", "ml_new_u"));
}

TEST_F(History, ARunThatNobodySawEndIsSaidToBeLost) {
  run("a", std::nullopt);
  EXPECT_THAT(keep_within(home_, {}, {}), ElementsAre("a"));
}

TEST(HistoryQuota, WhatIsNoNumberIsSaidAndTheUsualIsKept) {
  BareContext bare;
  std::vector<std::string> said;
  bare.context.log =
      Logger([&](Severity, std::string_view, std::string_view text) { said.emplace_back(text); },
             Severity::Warning);
  bare.context.environment = {{"MUSTER_KEEP_BYTES", "20GB"}, {"MUSTER_KEEP_RUNS", "500"}};
  const Quota quota = Quota::from(bare.context);
  EXPECT_EQ(quota.bytes, Quota{}.bytes);
  EXPECT_EQ(quota.runs, 500U);
  EXPECT_THAT(said, ElementsAre(::testing::HasSubstr("MUSTER_KEEP_BYTES=20GB is not understood")));
}

TEST_F(History, LogsOfWhichNothingIsWrittenDownGoToo) {
  append("ml_old_u", "main/0.log", std::string(1000, 'x'));
  append("ml_living_v", "main/0.log", std::string(1000, 'x'));
  keep_within(home_, {.bytes = 500, .runs = 200}, {"v"});
  EXPECT_THAT(kept(), ElementsAre("ml_living_v"));
}

TEST_F(History, TheLatestComesFirst) {
  for (const auto& [uid, second] : {std::pair("b", 1), std::pair("a", 5), std::pair("c", 3)})
    ASSERT_TRUE(append_line(home_, uid, begin_line({.uid = uid, .created = at(second)})));
  std::vector<std::string> uids;
  for (const RunRecord& run : read_history(home_)) uids.push_back(run.uid);
  EXPECT_THAT(uids, ElementsAre("a", "c", "b"));
}

TEST(QuotaOfHistory, IsSaidByTheEnvironment) {
  BareContext bare;
  EXPECT_EQ(Quota::from(bare.context).runs, 200U);
  EXPECT_EQ(Quota::from(bare.context).bytes, std::uint64_t{1} << 30U);
  bare.context.environment = {{"MUSTER_KEEP_RUNS", "7"}, {"MUSTER_KEEP_BYTES", "2Mi"}};
  EXPECT_EQ(Quota::from(bare.context).runs, 7U);
  EXPECT_EQ(Quota::from(bare.context).bytes, std::uint64_t{2} << 20U);
  bare.context.environment = {{"MUSTER_KEEP_RUNS", "-1"}, {"MUSTER_KEEP_BYTES", "much"}};
  EXPECT_EQ(Quota::from(bare.context).runs, 200U);
  EXPECT_EQ(Quota::from(bare.context).bytes, std::uint64_t{1} << 30U);
}

}  // namespace
}  // namespace muster::cli
