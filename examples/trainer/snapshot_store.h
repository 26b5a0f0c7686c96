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
    bool is_complete = false;           // this rank has trained the last step already
  };
  // What a run with these hyper-parameters could resume from.
  [[nodiscard]] Inventory restorable(const Hyperparameters& hyperparameters) const;

  [[nodiscard]] Result<Snapshot> load(std::uint64_t step) const;
  [[nodiscard]] Result<void> save(const Snapshot& snapshot) const;

  // The run goes on at `step`: removes checkpoints of an abandoned attempt beyond it, which must
  // not be taken for newer work, and the mark and the half-written files of earlier runs.
  void resume_at(std::uint64_t step) const;

  // The run is over for all ranks: leaves no checkpoint that a new run would resume, but a mark by
  // which this rank, should it be started once more, sees that it had nothing left to do.
  void mark_finished(std::uint64_t last_step) const;

  // The run is over, and nobody will ask.
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
  std::filesystem::path mark_;  // the last checkpoint of a finished run, under another name
};

}  // namespace muster::trainer
