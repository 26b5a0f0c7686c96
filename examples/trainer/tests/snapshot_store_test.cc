#include "trainer/snapshot_store.h"

#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "trainer/files.h"
#include "trainer/tests/scratch_directory.h"

namespace muster::trainer {
namespace {

using Steps = std::vector<std::uint64_t>;

const Hyperparameters kRun{.epochs = 1, .steps_per_epoch = 100, .batch = 1, .hidden = 1};

class SnapshotStoreTest : public testing::Test {
 protected:
  void save(const SnapshotStore& store, std::uint64_t step, const Hyperparameters& run = kRun) {
    Snapshot snapshot = initial_snapshot(run);
    snapshot.step = step;
    snapshot.losses.resize(step);
    const auto saved = store.save(snapshot);
    ASSERT_TRUE(saved) << saved.error().message;
  }

  [[nodiscard]] SnapshotStore open(const std::string& node_id) const {
    return SnapshotStore::open(scratch_.path(), node_id).value();
  }

  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.path())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  ScratchDirectory scratch_;
};

TEST_F(SnapshotStoreTest, KeepsTheNewestTwo) {
  const SnapshotStore store = open("w-0");
  for (const std::uint64_t step : {10u, 20u, 30u}) {
    save(store, step);
  }
  EXPECT_EQ(store.restorable(kRun).steps, (Steps{20, 30}));
  EXPECT_EQ(files(), (std::set<std::string>{"checkpoint-w-0-step-0000020.params",
                                            "checkpoint-w-0-step-0000030.params"}));
}

TEST_F(SnapshotStoreTest, LoadsWhatWasSaved) {
  const SnapshotStore store = open("w-0");
  save(store, 10);
  EXPECT_EQ(store.load(10)->step, 10u);
  EXPECT_EQ(store.load(10)->parameters, initial_snapshot(kRun).parameters);
  EXPECT_FALSE(store.load(20));
}

TEST_F(SnapshotStoreTest, RanksDoNotSeeEachOther) {
  const SnapshotStore one = open("w-1");
  const SnapshotStore eleven = open("w-11");
  const SnapshotStore tricky = open("w-1-step-5");
  save(one, 10);
  save(eleven, 20);
  save(tricky, 30);
  EXPECT_EQ(one.restorable(kRun).steps, Steps{10});
  EXPECT_EQ(eleven.restorable(kRun).steps, Steps{20});
  EXPECT_EQ(tricky.restorable(kRun).steps, Steps{30});
}

TEST_F(SnapshotStoreTest, ATornFileIsNotOffered) {
  const SnapshotStore store = open("w-0");
  save(store, 10);
  save(store, 20);
  const auto path = scratch_.path() / "checkpoint-w-0-step-0000020.params";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  const auto inventory = store.restorable(kRun);
  EXPECT_EQ(inventory.steps, Steps{10});
  ASSERT_EQ(inventory.rejected.size(), 1u);
  EXPECT_NE(inventory.rejected[0].find("cut short"), std::string::npos) << inventory.rejected[0];
}

TEST_F(SnapshotStoreTest, AFileUnderAnotherStepsNameIsNotOffered) {
  const SnapshotStore store = open("w-0");
  save(store, 10);
  std::filesystem::rename(scratch_.path() / "checkpoint-w-0-step-0000010.params",
                          scratch_.path() / "checkpoint-w-0-step-0000020.params");
  EXPECT_TRUE(store.restorable(kRun).steps.empty());
}

TEST_F(SnapshotStoreTest, ACheckpointOfAnotherRunIsNotOffered) {
  const SnapshotStore store = open("w-0");
  Hyperparameters other = kRun;
  other.seed = 99;
  save(store, 10, other);
  const auto inventory = store.restorable(kRun);
  EXPECT_TRUE(inventory.steps.empty());
  EXPECT_EQ(inventory.rejected.size(), 1u);
}

TEST_F(SnapshotStoreTest, ForgetsTheFutureOfAnAbandonedAttempt) {
  const SnapshotStore store = open("w-0");
  save(store, 10);
  save(store, 20);
  std::ofstream(scratch_.path() / "checkpoint-w-0-step-0000030.params.partial") << "torn";
  std::ofstream(scratch_.path() / "checkpoint-w-1-step-0000030.params.partial") << "not ours";
  store.resume_at(10);
  EXPECT_EQ(files(), (std::set<std::string>{"checkpoint-w-0-step-0000010.params",
                                            "checkpoint-w-1-step-0000030.params.partial"}));
}

TEST_F(SnapshotStoreTest, AFinishedRunLeavesAMarkAndNothingToResume) {
  const SnapshotStore store = open("w-0");
  save(store, 90);
  EXPECT_FALSE(store.restorable(kRun).is_complete);
  save(store, 100);
  EXPECT_TRUE(store.restorable(kRun).is_complete);
  store.mark_finished(100);
  EXPECT_EQ(files(), (std::set<std::string>{"finished-w-0.params"}));
  EXPECT_TRUE(store.restorable(kRun).is_complete);
  EXPECT_TRUE(store.restorable(kRun).steps.empty());

  Hyperparameters other = kRun;
  other.seed = 99;
  EXPECT_FALSE(store.restorable(other).is_complete);
  store.resume_at(0);
  EXPECT_TRUE(files().empty());
}

TEST_F(SnapshotStoreTest, ForgetsAllCheckpoints) {
  const SnapshotStore store = open("w-0");
  save(store, 10);
  save(store, 20);
  store.forget_all();
  EXPECT_TRUE(files().empty());
}

TEST(FilesTest, AnAtomicWriteReplacesTheWholeFile) {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "file";
  ASSERT_TRUE(write_atomically(path, "a longer first version"));
  ASSERT_TRUE(write_atomically(path, "second"));
  EXPECT_EQ(read_whole(path, 100), "second");
  EXPECT_FALSE(read_whole(path, 5));
  EXPECT_FALSE(std::filesystem::exists(path.string() + std::string(kPartialSuffix)));
}

TEST(FilesTest, ErrorsNameTheFile) {
  const auto result = write_atomically("/nowhere/at/all", "text");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace muster::trainer
