#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "trainer/network.h"
#include "trainer/numbers.h"
#include "trainer/tests/job.h"
#include "trainer/tests/scratch_directory.h"

namespace muster::trainer {
namespace {

const std::vector<int> kAllSucceeded = {0, 0, 0, 0};
const std::vector<std::string> kShortRun = {
    "--epochs", "2", "--steps-per-epoch", "60", "--batch", "16", "--hidden", "16", "--lr", "0.1"};

class EndToEndTest : public testing::Test {
 protected:
  [[nodiscard]] Job job(std::vector<std::string> more_flags = {},
                        std::map<std::string, std::string> variables = {}) const {
    std::vector<std::string> flags = kShortRun;
    flags.insert(flags.end(), more_flags.begin(), more_flags.end());
    return Job({.directory = scratch_.path(), .flags = flags, .variables = std::move(variables)});
  }

  [[nodiscard]] Outcome verify() const {
    return run_trainer({"verify", scratch_.path().string(), "--ranks", "4"});
  }

  ScratchDirectory scratch_;
};

TEST_F(EndToEndTest, FourRanksComputeWhatOneProcessWould) {
  Job run = job();
  run.start_scheduler();
  run.start_workers();
  EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
  EXPECT_EQ(run.scheduler().wait(), 0);

  EXPECT_EQ(contents(run.final_file(0)), contents(run.final_file(3)));
  const Outcome outcome = verify();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;

  const auto simulation = scratch_.path() / "simulation";
  std::vector<std::string> flags = kShortRun;
  flags.insert(flags.end(), {"--simulate-ranks", "4", "--checkpoint-dir", simulation.string()});
  ASSERT_EQ(run_trainer(flags).exit_code, 0);
  const Outcome comparison =
      run_trainer({"compare", run.final_file(2).string(), simulation / "final-simulated.params",
                   "--tolerance", "1e-5"});
  EXPECT_EQ(comparison.exit_code, 0) << comparison.output;
}

TEST_F(EndToEndTest, ProgressReadsAsMindSporeWritesIt) {
  Job run = job();
  run.start_scheduler();
  run.start_workers();
  EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
  EXPECT_TRUE(run.worker(1).wait_for_line("epoch: 1 step: 10, loss is ").starts_with("epoch"));
  EXPECT_TRUE(run.worker(1).wait_for_line("epoch: 2 step: 60, loss is ").starts_with("epoch"));
}

TEST_F(EndToEndTest, AFinishedJobLeavesResultsAndMarksButNoCheckpoints) {
  Job run = job({"--checkpoint-every", "7"});
  run.start_scheduler();
  run.start_workers();
  EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(scratch_.path())) {
    names.insert(entry.path().filename().string());
  }
  std::set<std::string> expected;
  for (const std::string index : {"0", "1", "2", "3"}) {
    expected.insert("final-rank-" + index + ".params");
    expected.insert("finished-job-worker-" + index + ".params");
  }
  EXPECT_EQ(names, expected);
}

TEST_F(EndToEndTest, ASecondRunInTheSameDirectoryTrainsAnew) {
  for (int round = 0; round < 2; ++round) {
    Job run = job();
    run.start_scheduler();
    run.start_workers();
    EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
    run.worker(0).wait_for_line("epoch: 1 step: 10,");
  }
}

TEST_F(EndToEndTest, WithoutAllReduceTheCheckFails) {
  Job run = job({"--no-all-reduce"});
  run.start_scheduler();
  run.start_workers();
  EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
  const Outcome outcome = verify();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("FAIL  rank 1 ended with other results"), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("FAIL  a single process"), std::string::npos) << outcome.output;
}

TEST_F(EndToEndTest, AMissingResultFailsTheCheck) {
  const Outcome outcome = verify();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("final-rank-0.params"), std::string::npos) << outcome.output;
}

TEST_F(EndToEndTest, WorkersWaitForALateScheduler) {
  Job run = job();
  run.start_scheduler();  // only to have a port that is known and closed
  run.scheduler().signal(SIGKILL);
  EXPECT_EQ(run.scheduler().wait(), 128 + SIGKILL);
  run.start_workers();
  for (std::size_t index = 0; index < 4; ++index) {
    run.worker(index).wait_for_line("Connection refused; trying again for 60 s");
  }
  run.start_scheduler();
  EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
}

TEST_F(EndToEndTest, WithoutASchedulerAWorkerGivesUpAndSaysWhere) {
  Job run = job({}, {{"MS_TOPO_TIMEOUT", "1"}, {"MS_SCHED_PORT", "1"}});
  run.start_worker(0);
  EXPECT_EQ(run.worker(0).wait(), 1);
  run.worker(0).wait_for_line("no topology of 4 workers after 1 s");
}

TEST_F(EndToEndTest, StrangersAtTheSchedulerDoNotDisturbTheJob) {
  Job run = job();
  run.start_scheduler();
  std::vector<Descriptor> strangers;
  for (const std::string& words :
       {std::string("GET / HTTP/1.1\r\nHost: scheduler\r\n\r\n"), std::string(100'000, 'x'),
        std::string("done 1\n"), std::string("register 1 ../up 10.0.0.1:1 ff -\n"),
        std::string(64, '\0'), std::string()}) {
    strangers.push_back(connect_to("127.0.0.1", parse_number<std::uint16_t>(run.port()).value(),
                                   Clock::now() + std::chrono::seconds(10))
                            .value());
    static_cast<void>(send_some(strangers.back(), words));
  }
  run.scheduler().wait_for_line("refused a connection: malformed 'register' message");
  run.start_workers();
  EXPECT_EQ(run.wait_for_workers(), kAllSucceeded);
  EXPECT_EQ(verify().exit_code, 0);
}

TEST_F(EndToEndTest, AWorkerWithOtherFlagsIsRefused) {
  Job run = job();
  run.start_scheduler();
  run.start_worker(0);
  run.scheduler().wait_for_line("job-worker-0 registered, 1 of 4");
  Job other = job({"--seed", "2"}, {{"MS_SCHED_PORT", run.port()}});
  other.start_worker(1);
  EXPECT_EQ(other.worker(1).wait(), 2);
  other.worker(1).wait_for_line("give all workers the same flags");
}

TEST_F(EndToEndTest, AProcessAloneTrainsResumesAndLearns) {
  std::vector<std::string> flags = kShortRun;
  flags.insert(flags.end(),
               {"--checkpoint-dir", scratch_.path().string(), "--checkpoint-every", "5"});
  std::vector<std::string> slow = flags;
  slow.insert(slow.end(), {"--step-delay-ms", "5"});
  {
    const auto interrupted = Process::start(slow, {});
    interrupted->wait_for_line("epoch: 1 step: 20,");
    interrupted->signal(SIGKILL);
    EXPECT_EQ(interrupted->wait(), 128 + SIGKILL);
  }
  const Outcome resumed = run_trainer(flags);
  EXPECT_EQ(resumed.exit_code, 0);
  EXPECT_NE(resumed.output.find("resuming after step"), std::string::npos) << resumed.output;
  const Outcome outcome = run_trainer({"verify", scratch_.path().string(), "--ranks", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
}

TEST_F(EndToEndTest, ARankThatRunsTwiceIsCaught) {
  const auto locks = scratch_.path() / "locks";
  const std::vector<std::string> flags = {"--lock-dir", locks.string(), "--step-delay-ms",
                                          "1000",       "--log-every",  "1"};
  const auto first = Process::start(flags, {});
  first->wait_for_line("epoch: 1 step: 1,");
  const Outcome second = run_trainer(flags);
  EXPECT_EQ(second.exit_code, 97);
  EXPECT_NE(second.output.find("rank is running twice"), std::string::npos) << second.output;
  EXPECT_TRUE(contents(locks / "contention").starts_with("standalone pid "));

  // The lock ends with its holder, however that ends.
  first->signal(SIGKILL);
  EXPECT_EQ(first->wait(), 128 + SIGKILL);
  const auto third = Process::start(flags, {});
  third->wait_for_line("epoch: 1 step: 1,");
}

TEST_F(EndToEndTest, TerminationIsPrompt) {
  const auto process = Process::start({"--step-delay-ms", "60000", "--log-every", "1"}, {});
  process->wait_for_line("epoch: 1 step: 1,");
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 143);
}

TEST_F(EndToEndTest, WrongFlagsAndVariablesAreOneLineAndExitCode2) {
  for (const Outcome& outcome :
       {run_trainer({"--epochs", "zero"}), run_trainer({}, {{"MS_ROLE", "MS_WORKER"}}),
        run_trainer({}, {{"MS_ROLE", "MS_PSERVER"}}),
        run_trainer({"--simulate-ranks", "2"}, {{"MS_ROLE", "MS_SCHED"},
                                                {"MS_SCHED_HOST", "127.0.0.1"},
                                                {"MS_SCHED_PORT", "0"},
                                                {"MS_NODE_ID", "s"},
                                                {"MS_SERVER_NUM", "0"},
                                                {"MS_WORKER_NUM", "1"}})}) {
    EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
    EXPECT_TRUE(outcome.output.starts_with("muster-trainer: ")) << outcome.output;
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
  }
}

}  // namespace
}  // namespace muster::trainer
