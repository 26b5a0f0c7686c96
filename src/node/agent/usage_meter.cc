#include "node/agent/usage_meter.h"

#include <algorithm>

#include "rt/wait.h"

namespace muster::node {
namespace {

// Ticks of 10 ms: less than this says little, and an older mean is not what happens now.
constexpr Duration kShortest = std::chrono::milliseconds(500);
constexpr Duration kLongest = std::chrono::seconds(15);

}  // namespace

Task<std::map<std::string, UsageMeter::Counters>> UsageMeter::read_all(
    std::vector<std::string> pod_uids) {
  std::map<std::string, Counters> counters;
  for (const std::string& uid : pod_uids) {
    auto read = co_await read_(uid);
    if (!read.empty()) counters[uid] = std::move(read);
  }
  co_return counters;
}

bool UsageMeter::lacks_recent(const std::vector<std::string>& pod_uids) const {
  return std::ranges::any_of(pod_uids, [&](const std::string& uid) {
    const auto found = before_.find(uid);
    return found == before_.end() || loop_.monotonic() - found->second.at > kLongest;
  });
}

void UsageMeter::keep(const std::map<std::string, Counters>& counters) {
  const Monotonic now = loop_.monotonic();
  for (const auto& [uid, containers] : counters) {
    Sample sample{.at = now, .cpu_time = {}};
    for (const auto& one : containers) sample.cpu_time[one.container] += one.cpu_time;
    before_[uid] = std::move(sample);
  }
}

Task<std::map<std::string, PodUsage>> UsageMeter::measure(std::vector<std::string> pod_uids) {
  std::map<std::string, PodUsage> out;
  std::erase_if(before_,
                [&](const auto& known) { return loop_.monotonic() - known.second.at > kLongest; });
  if (lacks_recent(pod_uids)) {
    keep(co_await read_all(pod_uids));
    if (!co_await rt::sleep_for(loop_, kShortest)) co_return out;
  }
  const auto counters = co_await read_all(pod_uids);
  const Monotonic now = loop_.monotonic();
  std::map<std::string, Counters> fresh;
  for (const auto& [uid, containers] : counters) {
    const auto before = before_.find(uid);
    if (before == before_.end()) continue;  // began a moment ago
    const Duration window = now - before->second.at;
    PodUsage& usage = out[uid];
    usage.window = window;
    for (const auto& one : containers) {
      const auto known = before->second.cpu_time.find(one.container);
      // A container that is new, or started again, has used what it says.
      Duration spent = one.cpu_time;
      if (known != before->second.cpu_time.end() && known->second <= spent) spent -= known->second;
      const auto nanocores = window.count() <= 0 ? 0.0
                                                 : 1e9 * static_cast<double>(spent.count()) /
                                                       static_cast<double>(window.count());
      usage.containers.push_back({.container = one.container,
                                  .cpu_nanocores = static_cast<std::int64_t>(nanocores),
                                  .memory_bytes = one.memory_bytes});
    }
    if (window >= kShortest) fresh[uid] = containers;
  }
  keep(fresh);
  co_return out;
}

}  // namespace muster::node
