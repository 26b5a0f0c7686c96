#include "cli/jobs/kept_logs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include "base/strings.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

// How many characters the end of a name has that differs from try to try.
constexpr std::size_t kSalt = 5;

// ROLE-INDEX of a pod named JOB-ROLE-INDEX, and ROLE of one named JOB-ROLE.
struct RankName {
  std::string role;
  int index = 0;
};

std::optional<RankName> rank_of(std::string_view pod, const std::string& job) {
  if (!pod.starts_with(job + "-")) return std::nullopt;
  pod.remove_prefix(job.size() + 1);
  const auto dash = pod.rfind('-');
  if (dash == std::string_view::npos) {
    if (pod.size() == kSalt || parse_int(pod.substr(0, 1))) return std::nullopt;
    return RankName{.role = std::string(pod)};
  }
  if (pod.substr(0, dash).find('-') != std::string_view::npos) return std::nullopt;
  const auto index = parse_int(pod.substr(dash + 1));
  // No role begins with a digit; of a pod JOB-INDEX-xxxxx the end may be a number by chance.
  if (!index || dash == 0 || parse_int(pod.substr(0, 1))) return std::nullopt;
  return RankName{.role = std::string(pod.substr(0, dash)), .index = static_cast<int>(*index)};
}

struct PodLogs {
  RankName rank;
  std::string pod;
  fs::path directory;
  fs::file_time_type changed;
};

// Directories are named NAMESPACE_POD_UID; of several pods of one name the newest counts.
std::map<std::string, PodLogs> newest_pods(const std::string& home, const std::string& ns,
                                           const std::string& job) {
  std::map<std::string, PodLogs> pods;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(home) / "logs", error)) {
    const std::string name = entry.path().filename();
    const auto parts = split(name, '_');
    if (parts.size() != 3 || parts[0] != ns) continue;
    const auto rank = rank_of(parts[1], job);
    if (!rank) continue;
    const auto changed = entry.last_write_time(error);
    PodLogs& best = pods[std::string(parts[1])];
    if (!best.directory.empty() && best.changed >= changed) continue;
    best = {
        .rank = *rank, .pod = std::string(parts[1]), .directory = entry.path(), .changed = changed};
  }
  return pods;
}

}  // namespace

std::vector<KeptLog> kept_logs(const std::string& home, const std::string& ns,
                               const std::string& job) {
  std::vector<KeptLog> logs;
  std::error_code error;
  for (const auto& [name, pod] : newest_pods(home, ns, job)) {
    for (const auto& container : fs::directory_iterator(pod.directory, error)) {
      std::optional<int> newest;
      for (const auto& file : fs::directory_iterator(container.path(), error)) {
        if (file.path().extension() != ".log") continue;
        const auto attempt = parse_int(file.path().stem().string());
        if (attempt) newest = std::max(newest.value_or(0), static_cast<int>(*attempt));
      }
      if (!newest) continue;
      logs.push_back({.pod = pod.pod,
                      .role = pod.rank.role,
                      .index = pod.rank.index,
                      .container = container.path().filename(),
                      .attempt = *newest,
                      .path = container.path() / (std::to_string(*newest) + ".log")});
    }
  }
  std::ranges::sort(
      logs, {}, [](const KeptLog& log) { return std::tuple(log.role, log.index, log.container); });
  return logs;
}

}  // namespace muster::cli
