#include "node/disk/keeper.h"

#include <algorithm>
#include <cstdlib>

#include "api/object.h"
#include "rt/wait.h"

namespace muster::node {

namespace {

using namespace std::chrono_literals;

constexpr Duration kPeriod = 1s;
constexpr Duration kLowPeriod = 250ms;
// Whatever the disk says: others may have freed what a pod took.
constexpr Duration kLongestUnmeasured = 10s;
// Measuring takes at most one part in so many of the time.
constexpr int kRest = 20;
constexpr std::int64_t kWorthALook = 64 << 10;

}  // namespace

Task<void> DiskKeeper::run() {
  while (co_await rt::sleep_for(parts_.loop, low_ ? kLowPeriod : kPeriod)) co_await look();
}

Task<void> DiskKeeper::look() {
  auto pods = parts_.pods();
  forget_gone(pods);
  if (pods.empty() && !full_) {
    low_ = false;
    co_return;
  }
  const auto space = co_await parts_.runtime.disk_space();
  if (!space || space->total <= 0) co_return;  // nothing is known
  low_ = runs_low(*space);
  tell(is_full(*space));
  if (!worth_measuring(*space)) co_return;
  const auto began = parts_.loop.monotonic();
  for (const auto& pod : pods) co_await measure(pod);
  if (scope_.stopping()) co_return;
  measured_ = *space;
  measured_at_ = parts_.loop.monotonic();
  not_before_ = measured_at_ + (measured_at_ - began) * kRest;
  pods = parts_.pods();
  forget_gone(pods);
  judge(pods, *space);
}

bool DiskKeeper::worth_measuring(const DiskSpace& space) const {
  const auto now = parts_.loop.monotonic();
  if (now < not_before_) return false;
  if (!measured_ || now - measured_at_ >= kLongestUnmeasured) return true;
  return std::abs(space.available - measured_->available) >= kWorthALook ||
         space.free_files != measured_->free_files;
}

Task<void> DiskKeeper::measure(api::ObjectPtr pod) {
  PodDiskUse use;
  use.containers = co_await parts_.runtime.disk_use(api::uid_of(*pod));
  auto volumes = co_await parts_.disk.run(
      [pod, places = parts_.places]() -> Result<std::map<std::string, VolumeDiskUse>> {
        return volume_use(pod, places);
      });
  if (volumes) use.volumes = std::move(*volumes);
  uses_[api::uid_of(*pod)] = std::move(use);
}

Task<void> DiskKeeper::look_at(api::ObjectPtr pod) {
  const auto space = co_await parts_.runtime.disk_space();
  if (!space || space->total <= 0) co_return;
  co_await measure(pod);
  judge_one(pod, *space);
}

void DiskKeeper::tell(bool full) {
  if (std::exchange(full_, full) != full) parts_.told(full);
}

std::int64_t DiskKeeper::taken() const {
  std::int64_t sum = 0;
  for (const auto& [uid, use] : uses_) sum += use.total().bytes;
  return sum;
}

bool DiskKeeper::judge_one(const api::ObjectPtr& pod, const DiskSpace& space) {
  const auto& uid = api::uid_of(*pod);
  const auto use = uses_.find(uid);
  if (use == uses_.end() || leaving_.contains(uid)) return false;
  auto why = over_limit(disk_limits(*pod), use->second, fair_share(space, taken()));
  if (!why) return false;
  leaving_.insert(uid);
  parts_.evict(uid, {.message = std::move(*why)});
  return true;
}

void DiskKeeper::judge(const std::vector<api::ObjectPtr>& pods, const DiskSpace& space) {
  for (const auto& pod : pods) judge_one(pod, space);
  // What they give back is worth waiting for.
  if (is_full(space) && leaving_.empty()) relieve(pods, space);
}

void DiskKeeper::relieve(const std::vector<api::ObjectPtr>& pods, const DiskSpace& space) {
  std::vector<Candidate> candidates;
  for (const auto& pod : pods) {
    const auto use = uses_.find(api::uid_of(*pod));
    if (use == uses_.end()) continue;
    candidates.push_back(
        {.uid = use->first, .request = disk_limits(*pod).request, .use = use->second.total()});
  }
  const auto victim = choose_victim(candidates, space);
  if (!victim) return;
  leaving_.insert(victim->uid);
  parts_.evict(victim->uid, {.message = victim_message(*victim, space), .for_node = true});
}

void DiskKeeper::forget_gone(const std::vector<api::ObjectPtr>& pods) {
  std::set<std::string> here;
  for (const auto& pod : pods) here.insert(api::uid_of(*pod));
  const auto gone = [&](const std::string& uid) { return !here.contains(uid); };
  std::erase_if(uses_, [&](const auto& entry) { return gone(entry.first); });
  std::erase_if(leaving_, gone);
}

}  // namespace muster::node
