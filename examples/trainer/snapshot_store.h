#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/error.h"
#include "trainer/snapshot.h"

namespace muster::trainer {

[[nodiscard]] Result<Snapshot> read_snapshot(const std::filesystem::path& path);

[[nodiscard]] std::filesystem::path final_path(const std::filesystem::path& directory,
                                               std::uint64_t rank);

// The checkpoints of one rank, in a directory that all ranks may share. Files carry the node id and
// not the rank: a worker knows its id before the rendezvous, where it must already say which steps
// it has.
//
// The newest two are kept, and two are enough: no rank can finish the all-reduce of a step before
// every other has finished the one before, so the newest checkpoints of any two ranks are at most
// one apart.
class SnapshotStore {
 public:
  // Makes the directory if it is missing.
  [[nodiscard]] static Result<SnapshotStore> open(std::filesystem::path directory,
                                                  std::string node_id);

  struct Inventory {
    std::vector<std::uint64_t> steps;   // rising; each was read and found whole
    std::vector<std::string> rejected;  // one line for each file that cannot be resumed, and why
  };
  // What a run with these hyper-parameters could resume from.
  [[nodiscard]] Inventory restorable(const Hyperparameters& hyperparameters) const;

  [[nodiscard]] Result<Snapshot> load(std::uint64_t step) const;
  [[nodiscard]] Result<void> save(const Snapshot& snapshot) const;

  // Removes the checkpoints after `step`, and leftovers of interrupted writes: the run resumes at
  // `step`, and what an abandoned attempt had beyond it must not be taken for newer work.
  void forget_after(std::uint64_t step) const;

  // Removes the checkpoints of a finished run, oldest first: the last one tells a rank that is
  // started once more that it has nothing left to do, so it goes last.
  void forget_all() const;

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

 private:
  SnapshotStore(std::filesystem::path directory, std::string node_id);

  [[nodiscard]] std::filesystem::path path_of(std::uint64_t step) const;
  [[nodiscard]] std::optional<std::uint64_t> step_in(std::string_view file_name) const;
  // Every step that has a file, whatever is in it; rising.
  [[nodiscard]] std::vector<std::uint64_t> steps_on_disk() const;

  std::filesystem::path directory_;
  std::string prefix_;
};

}  // namespace muster::trainer
