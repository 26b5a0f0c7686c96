#include "trainer/snapshot_store.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "trainer/files.h"

namespace muster::trainer {
namespace {

constexpr std::string_view kSuffix = ".params";
constexpr std::size_t kKeptCheckpoints = 2;
// The largest model allowed (4,096 hidden units) is 1.4 MB and the longest loss history 8 MB; 16
// MiB hold both.
constexpr std::size_t kMaxSnapshotBytes = std::size_t{16} << 20;

void remove_quietly(const std::filesystem::path& path) {
  // A file that stays costs space and is overwritten or ignored later, so failing to remove it is
  // no error.
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

std::vector<std::string> names_in(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entries(directory, error);
  while (!error && entries != std::filesystem::directory_iterator()) {
    names.push_back(entries->path().filename().string());
    entries.increment(error);
  }
  return names;
}

}  // namespace

Result<Snapshot> read_snapshot(const std::filesystem::path& path) {
  const std::string bytes = TRY(read_whole(path, kMaxSnapshotBytes));
  Result<Snapshot> snapshot = decode_snapshot(bytes);
  if (!snapshot) {
    return failure(path.string() + " " + snapshot.error().message);
  }
  return snapshot;
}

std::filesystem::path final_path(const std::filesystem::path& directory, std::uint64_t rank) {
  return directory / fmt::format("final-rank-{}{}", rank, kSuffix);
}

Result<SnapshotStore> SnapshotStore::open(std::filesystem::path directory, std::string node_id) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return failure(
        fmt::format("--checkpoint-dir: cannot make {}: {}", directory.string(), error.message()));
  }
  return SnapshotStore(std::move(directory), std::move(node_id));
}

SnapshotStore::SnapshotStore(std::filesystem::path directory, std::string node_id)
    : directory_(std::move(directory)),
      prefix_(fmt::format("checkpoint-{}-step-", node_id)),
      mark_(directory_ / fmt::format("finished-{}{}", node_id, kSuffix)) {}

SnapshotStore::Inventory SnapshotStore::restorable(const Hyperparameters& hyperparameters) const {
  Inventory inventory;
  for (const std::uint64_t step : steps_on_disk()) {
    const Result<Snapshot> snapshot = load(step);
    if (!snapshot) {
      inventory.rejected.push_back(snapshot.error().message);
    } else if (snapshot->hyperparameters != hyperparameters) {
      inventory.rejected.push_back(path_of(step).string() +
                                   " is of a run with other hyper-parameters");
    } else {
      inventory.steps.push_back(step);
    }
  }
  const Result<Snapshot> mark = read_snapshot(mark_);
  inventory.is_complete =
      (mark && mark->hyperparameters == hyperparameters) ||
      std::ranges::binary_search(inventory.steps, hyperparameters.total_steps());
  return inventory;
}

Result<Snapshot> SnapshotStore::load(std::uint64_t step) const {
  Snapshot snapshot = TRY(read_snapshot(path_of(step)));
  if (snapshot.step != step) {
    return failure(fmt::format("{} holds step {}", path_of(step).string(), snapshot.step));
  }
  return snapshot;
}

Result<void> SnapshotStore::save(const Snapshot& snapshot) const {
  TRY(write_atomically(path_of(snapshot.step), encode(snapshot)));
  const std::vector<std::uint64_t> steps = steps_on_disk();
  for (std::size_t index = 0; index + kKeptCheckpoints < steps.size(); ++index) {
    remove_quietly(path_of(steps[index]));
  }
  return {};
}

void SnapshotStore::resume_at(std::uint64_t step) const {
  for (const std::uint64_t found : steps_on_disk()) {
    if (found > step) {
      remove_quietly(path_of(found));
    }
  }
  for (const std::string& name : names_in(directory_)) {
    const std::string_view whole = name;
    if (whole.ends_with(kPartialSuffix) &&
        step_in(whole.substr(0, whole.size() - kPartialSuffix.size()))) {
      remove_quietly(directory_ / name);
    }
  }
  remove_quietly(mark_);
}

void SnapshotStore::mark_finished(std::uint64_t last_step) const {
  // One rename, so that at every moment there is either the checkpoint or the mark.
  std::error_code ignored;
  std::filesystem::rename(path_of(last_step), mark_, ignored);
  forget_all();
}

void SnapshotStore::forget_all() const {
  for (const std::uint64_t step : steps_on_disk()) {
    remove_quietly(path_of(step));
  }
}

std::filesystem::path SnapshotStore::path_of(std::uint64_t step) const {
  return directory_ / fmt::format("{}{:07}{}", prefix_, step, kSuffix);
}

std::optional<std::uint64_t> SnapshotStore::step_in(std::string_view file_name) const {
  if (!file_name.starts_with(prefix_) || !file_name.ends_with(kSuffix) ||
      file_name.size() <= prefix_.size() + kSuffix.size()) {
    return std::nullopt;
  }
  const char* begin = file_name.data() + prefix_.size();
  const char* end = file_name.data() + file_name.size() - kSuffix.size();
  std::uint64_t step = 0;
  const auto [stop, error] = std::from_chars(begin, end, step);
  // Only names that path_of() gives, so that a step found is a step that can be loaded.
  if (error != std::errc{} || stop != end || path_of(step).filename() != file_name) {
    return std::nullopt;
  }
  return step;
}

std::vector<std::uint64_t> SnapshotStore::steps_on_disk() const {
  std::vector<std::uint64_t> steps;
  for (const std::string& name : names_in(directory_)) {
    if (const auto step = step_in(name)) {
      steps.push_back(*step);
    }
  }
  std::ranges::sort(steps);
  return steps;
}

}  // namespace muster::trainer
