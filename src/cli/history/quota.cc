#include "cli/history/quota.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "api/quantity.h"
#include "base/strings.h"
#include "cli/history/run_record.h"
#include "node/runtime/log_places.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

// What goes together.
struct Kept {
  std::string uid;
  Time ended{};
  std::uint64_t bytes = 0;
  std::vector<fs::path> paths;
};

std::uint64_t size_of(const fs::path& directory) {
  std::uint64_t size = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(directory, error)) {
    if (entry.is_regular_file(error)) size += entry.file_size(error);
  }
  return size;
}

Time changed_at(const fs::path& path) {
  std::error_code error;
  const auto changed = fs::last_write_time(path, error);
  if (error) return Time{};
  return std::chrono::time_point_cast<Duration>(std::chrono::file_clock::to_sys(changed));
}

// Log directories by the uid of their pod: NAMESPACE_POD_UID.
std::map<std::string, fs::path> log_directories(const std::string& home) {
  std::map<std::string, fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(node::logs_directory(home), error)) {
    const std::string name = entry.path().filename();
    if (const auto mark = name.rfind('_'); mark != std::string::npos)
      found[name.substr(mark + 1)] = entry.path();
  }
  return found;
}

// Pods that have files here: those that run, and those that were not cleaned up after yet.
std::set<std::string> pods_here(const std::string& home) {
  std::set<std::string> uids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(home + "/pods", error))
    uids.insert(entry.path().filename());
  return uids;
}

// What somebody set to keep more must not be lost because of a slip in silence.
void complain(const Context& context, const char* name, const std::string& value,
              std::string_view example) {
  context.log.warning("{}={} is not understood, the usual is kept; write it as {}", name,
                      printable(value), example);
}

}  // namespace

Quota Quota::from(const Context& context) {
  Quota quota;
  std::error_code unknown;
  const auto disk = fs::space(context.home, unknown);
  if (!unknown) quota.bytes = std::min<std::uint64_t>(quota.bytes, disk.capacity / 8);
  if (const std::string text = context.env("MUSTER_KEEP_BYTES"); !text.empty()) {
    const auto bytes = api::Quantity::parse(text);
    if (bytes && bytes->whole() >= 0)
      quota.bytes = static_cast<std::uint64_t>(bytes->whole());
    else
      complain(context, "MUSTER_KEEP_BYTES", text, "20Gi");
  }
  if (const std::string text = context.env("MUSTER_KEEP_RUNS"); !text.empty()) {
    const auto runs = parse_int(text);
    if (runs && *runs >= 0)
      quota.runs = static_cast<std::size_t>(*runs);
    else
      complain(context, "MUSTER_KEEP_RUNS", text, "500");
  }
  return quota;
}

std::set<std::string> keep_within(const std::string& home, const Quota& quota,
                                  const std::set<std::string>& living, Time as_of) {
  std::set<std::string> lost;
  std::vector<Kept> ended;
  std::uint64_t bytes = 0;
  std::size_t runs = 0;
  std::error_code error;
  auto directories = log_directories(home);
  for (const RunRecord& run : read_history(home)) {
    const fs::path record = record_path(home, run.uid);
    Kept kept{.uid = run.uid, .bytes = fs::file_size(record, error), .paths = {record}};
    bool lives = living.contains(run.uid) || run.created >= as_of;
    for (const RecordedPod& pod : run.pods) {
      lives = lives || living.contains(pod.uid);
      const auto directory = directories.extract(pod.uid);
      if (directory.empty()) continue;
      kept.bytes += size_of(directory.mapped());
      kept.paths.push_back(directory.mapped());
    }
    bytes += kept.bytes;
    ++runs;
    if (lives) continue;
    if (!run.end) lost.insert(run.uid);
    kept.ended = run.end && run.end->ended ? *run.end->ended : changed_at(record);
    ended.push_back(std::move(kept));
  }
  // Logs of which nothing is written down: of a home that is older than its history.
  for (const auto& [uid, path] : directories) {
    Kept kept{.uid = uid, .ended = changed_at(path), .bytes = size_of(path), .paths = {path}};
    bytes += kept.bytes;
    // A file's time may be a little behind the clock.
    const bool began_since = kept.ended + std::chrono::seconds(1) >= as_of;
    if (!living.contains(uid) && !began_since) ended.push_back(std::move(kept));
  }
  std::ranges::sort(ended, {}, &Kept::ended);
  for (const Kept& oldest : ended) {
    if (bytes <= quota.bytes && runs <= quota.runs) break;
    // The record goes last: what a crash leaves behind is found again by it.
    for (const fs::path& path : std::vector(oldest.paths.rbegin(), oldest.paths.rend()))
      fs::remove_all(path, error);
    bytes -= std::min(bytes, oldest.bytes);
    if (oldest.paths.front().extension() == ".jsonl") --runs;
    lost.erase(oldest.uid);
  }
  return lost;
}

Task<void> keep_node_within(Context& context, Quota quota) {
  do {
    const auto kept = co_await context.pool.run(
        context.loop, [home = context.home, quota, now = context.loop.now()] {
          return keep_within(home, quota, pods_here(home), now);
        });
    if (!kept) co_return;
  } while (co_await rt::sleep_for(context.loop, std::chrono::minutes(10)));
}

}  // namespace muster::cli
