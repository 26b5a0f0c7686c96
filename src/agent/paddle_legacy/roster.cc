#include "agent/paddle_legacy/roster.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::agent::paddle_legacy {

Roster running_pods(const json::Value& pod_list) {
  Roster running;
  for (const auto& pod : pod_list["items"].as_array()) {
    const auto& status = pod["status"];
    const bool ending = !pod["metadata"]["deletionTimestamp"].is_null();
    const auto& address = status["podIP"].as_string();
    if (status["phase"].as_string() == "Running" && !ending && !address.empty())
      running.push_back(address);
  }
  std::ranges::sort(running);
  return running;
}

Result<std::optional<Roster>> complete_roster(Roster running, const Settings& settings) {
  const auto wanted = static_cast<std::size_t>(settings.gradient_num);
  if (running.size() < wanted) return std::nullopt;
  if (running.size() > wanted) {
    return fail(ErrorCode::Invalid,
                fmt::format("{} pods of job {} are running, but CONF_PADDLE_GRADIENT_NUM is {}; it "
                            "must equal the job's parallelism",
                            running.size(), settings.job_name, wanted));
  }
  if (const auto twice = std::ranges::adjacent_find(running); twice != running.end()) {
    return fail(ErrorCode::Invalid,
                fmt::format("two pods of job {} have the address {}, so they cannot be told apart; "
                            "pods of the host's network need a machine each",
                            settings.job_name, *twice));
  }
  return running;
}

Result<int> trainer_id(const Roster& roster, std::span<const std::string> own_addresses) {
  for (const auto& own : own_addresses) {
    const auto place = std::ranges::find(roster, own);
    if (place != roster.end()) return static_cast<int>(place - roster.begin());
  }
  return fail(
      ErrorCode::NotFound,
      fmt::format("none of this container's addresses ({}) is one of the running pods' ({})",
                  join({own_addresses.begin(), own_addresses.end()}, ", "), join(roster, ", ")));
}

}  // namespace muster::agent::paddle_legacy
