#include <signal.h>

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "trainer/snapshot_store.h"
#include "trainer/tests/job.h"
#include "trainer/tests/loses_peer.h"
#include "trainer/tests/scratch_directory.h"
#include "trainer/training.h"

namespace muster::trainer {
namespace {

const std::vector<int> kAllSucceeded = {0, 0, 0, 0};
constexpr int kPeerLost = 138;
constexpr int kKilled = 128 + SIGKILL;

const Hyperparameters kRun{.epochs = 2,
                           .steps_per_epoch = 60,
                           .batch = 16,
                           .hidden = 16,
                           .learning_rate = 0.1,
                           .seed = 1,
                           .ranks = 4};
// kRun as flags.
const std::vector<std::string> kFlags = {"--epochs",
                                         "2",
                                         "--steps-per-epoch",
                                         "60",
                                         "--batch",
                                         "16",
                                         "--hidden",
                                         "16",
                                         "--lr",
                                         "0.1",
                                         "--log-every",
                                         "5",
                                         "--checkpoint-every",
                                         "8"};

class FaultTest : public testing::Test {
 protected:
  // Slow enough to be disturbed in the middle: 120 steps take more than a second.
  [[nodiscard]] Job job(std::map<std::string, std::string> variables = {}) const {
    std::vector<std::string> flags = kFlags;
    flags.insert(flags.end(), {"--step-delay-ms", "10"});
    return Job({.directory = directory_, .flags = flags, .variables = std::move(variables)});
  }

  // The result of a job that nobody disturbed.
  [[nodiscard]] std::string undisturbed() const {
    Job run({.directory = scratch_.path() / "undisturbed", .flags = kFlags});
    run.start_scheduler();
    run.start_workers();
    EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
    return contents(run.final_file(0));
  }

  void expect_result(const Job& run, const std::string& expected) const {
    for (std::size_t rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(contents(run.final_file(rank)), expected) << "rank " << rank;
    }
  }

  ScratchDirectory scratch_;
  const std::filesystem::path directory_ = scratch_.path() / "job";
};

TEST_F(FaultTest, AKilledWorkerStopsTheOthersAndAllResumeToTheSameResult) {
  Job run = job();
  run.start_scheduler();
  run.start_workers();
  run.worker(0).wait_for_line("epoch: 1 step: 40,");
  run.worker(2).signal(SIGKILL);
  EXPECT_EQ(run.wait_for_workers(), (std::vector{kPeerLost, kPeerLost, kKilled, kPeerLost}));
  for (const std::size_t index : {0u, 1u, 3u}) {
    run.worker(index).wait_for_line("muster-trainer: lost peer job-worker-2");
  }
  run.scheduler().wait_for_line("generation 1: job-worker-2 was lost");

  run.start_workers();
  for (std::size_t index = 0; index < 4; ++index) {
    const std::string line = run.worker(index).wait_for_line("resuming after step");
    EXPECT_GE(std::stoi(line.substr(line.rfind(' '))), 32);
  }
  EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
  EXPECT_EQ(run.scheduler().wait(), 0);
  expect_result(run, undisturbed());
  EXPECT_EQ(run_trainer({"verify", directory_.string(), "--ranks", "4"}).exit_code, 0);
}

// A controller's view: whoever ends with a retryable code is started again at once, while others
// still fall. Each rank is killed once, at another place each time, about the last step included.
TEST_F(FaultTest, ManyFaultsEndWithTheSameResult) {
  Job run = job({{"MS_TOPO_TIMEOUT", "20"}});
  run.start_scheduler();
  run.start_workers();
  std::vector<bool> has_succeeded(4);
  const auto restart_the_fallen = [&] {
    for (std::size_t index = 0; index < 4; ++index) {
      const int code = has_succeeded[index] ? 0 : run.worker(index).wait();
      has_succeeded[index] = code == 0;
      if (code != 0) {
        EXPECT_TRUE(code == kKilled || code == kPeerLost) << run.worker(index).output();
        run.start_worker(index);
      }
    }
  };
  const std::vector<std::string> moments = {"epoch: 1 step: 10,", "epoch: 1 step: 50,",
                                            "epoch: 2 step: 30,", "epoch: 2 step: 60,"};
  for (std::size_t victim = 0; victim < 4; ++victim) {
    run.worker(victim).wait_for_line(moments[victim]);
    run.worker(victim).signal(SIGKILL);
    restart_the_fallen();
  }
  restart_the_fallen();
  EXPECT_EQ(has_succeeded, std::vector<bool>(4, true));
  EXPECT_EQ(run.scheduler().wait(), 0);
  expect_result(run, undisturbed());
}

TEST_F(FaultTest, ATornCheckpointOfOneRankSendsAllBackToTheOneBefore) {
  for (const std::string index : {"0", "1", "2", "3"}) {
    const SnapshotStore store = SnapshotStore::open(directory_, "job-worker-" + index).value();
    Snapshot state = initial_snapshot(kRun);
    LosesPeer stops_after_16(16);
    const TrainingOptions options{.shards = {0, 4}, .checkpoint_every = 8, .store = &store};
    ASSERT_FALSE(train(state, stops_after_16, options));
    ASSERT_EQ(store.restorable(kRun).steps, (std::vector<std::uint64_t>{8, 16}));
  }
  std::filesystem::resize_file(directory_ / "checkpoint-job-worker-3-step-0000016.params", 100);

  Job run({.directory = directory_, .flags = kFlags});
  run.start_scheduler();
  run.start_workers();
  EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
  run.worker(3).wait_for_line("ignored a checkpoint: ");
  for (std::size_t index = 0; index < 4; ++index) {
    run.worker(index).wait_for_line("resuming after step 8");
  }
  EXPECT_EQ(run_trainer({"verify", directory_.string(), "--ranks", "4"}).exit_code, 0);
}

TEST_F(FaultTest, TrainingSurvivesTheLossOfTheScheduler) {
  Job run = job();
  run.start_scheduler();
  run.start_workers();
  run.worker(0).wait_for_line("epoch: 1 step: 20,");
  run.scheduler().signal(SIGKILL);
  run.worker(0).wait_for_line("the scheduler is gone");
  EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
  expect_result(run, undisturbed());
}

TEST_F(FaultTest, AfterTheSchedulersLossItsSuccessorFormsTheNextGeneration) {
  Job run = job();
  run.start_scheduler();
  run.start_workers();
  run.worker(0).wait_for_line("epoch: 1 step: 20,");
  run.scheduler().signal(SIGKILL);
  EXPECT_EQ(run.scheduler().wait(), kKilled);
  run.start_scheduler();
  run.worker(3).signal(SIGKILL);
  EXPECT_EQ(run.wait_for_workers(), (std::vector{kPeerLost, kPeerLost, kPeerLost, kKilled}));
  run.start_workers();
  run.worker(1).wait_for_line("resuming after step");
  EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
  EXPECT_EQ(run.scheduler().wait(), 0);
  expect_result(run, undisturbed());
}

TEST_F(FaultTest, AFrozenWorkerCountsAsLostAndNoticesWhenItWakes) {
  Job run = job({{"MS_NODE_TIMEOUT", "1"}});
  run.start_scheduler();
  run.start_workers();
  run.worker(0).wait_for_line("epoch: 1 step: 20,");
  run.worker(1).signal(SIGSTOP);
  for (const std::size_t index : {0u, 2u, 3u}) {
    EXPECT_EQ(run.worker(index).wait(), kPeerLost);
  }
  run.worker(1).signal(SIGCONT);
  EXPECT_EQ(run.worker(1).wait(), kPeerLost);
}

// The others are done and gone, and so is the scheduler; this rank was stopped just before its own
// end.
TEST_F(FaultTest, ARankThatHadOnlyToLeaveFindsNothingToDo) {
  Snapshot state = initial_snapshot(kRun);
  Alone alone;
  const SnapshotStore store = SnapshotStore::open(directory_, "job-worker-2").value();
  ASSERT_TRUE(train(state, alone, {.shards = {0, 4}, .store = &store}));

  Job run = job({{"MS_TOPO_TIMEOUT", "1"}, {"MS_SCHED_PORT", "1"}});
  run.start_worker(2);
  EXPECT_EQ(run.worker(2).wait(), 0);
  run.worker(2).wait_for_line("all steps were trained before");
}

}  // namespace
}  // namespace muster::trainer
