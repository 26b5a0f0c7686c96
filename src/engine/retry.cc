#include "engine/retry.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace muster::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The ledger keeps moments as index ranges: ranks that fail within the same tenth of a second share
// an entry.
constexpr Duration kGrain = milliseconds(100);

// Reasons that kubelets and the pod garbage collector write without the condition.
constexpr std::array<std::string_view, 7> kNodeReasons = {
    "NodeShutdown", "Shutdown",   "NodeLost", "NodeAffinity", "UnexpectedAdmissionError",
    "Terminated",   "Preempting",
};

Time later(Time now, Duration delay) {
  const auto grains = std::chrono::ceil<milliseconds>(now + delay).time_since_epoch() / kGrain;
  const Time rounded{grains * kGrain};
  return rounded < now + delay ? rounded + kGrain : rounded;
}

}  // namespace

bool is_disrupted(const PodView& pod) {
  if (pod.disruption_target) return true;
  return pod.reason.starts_with("OutOf") ||
         std::ranges::find(kNodeReasons, pod.reason) != kNodeReasons.end();
}

RankState after_failure(const plan::Retry& retry, const PodView& pod, const ContainerView* main) {
  using On = plan::Retry::On;
  if (retry.on == On::Never || pod.refused) return RankState::Failed;
  // A role that pauses counts as a batch/v1 Job does: whatever ended a pod.
  const bool all_count = retry.on == On::AnyFailure && retry.pause == plan::Retry::Pause::Role;
  if (is_disrupted(pod) && !all_count) return RankState::Disrupted;
  if (retry.on == On::AnyFailure) return RankState::Retryable;
  if (retry.on == On::Disruption) return RankState::Failed;
  if (main == nullptr || !main->exit_code)
    return retry.without_code ? RankState::Retryable : RankState::Failed;
  return retry.codes.contains(*main->exit_code) ? RankState::Retryable : RankState::Failed;
}

std::vector<const Rank*> newly_failed(const Census& census) {
  std::vector<const Rank*> failed;
  for (const Rank& rank : census.ranks()) {
    if (rank.failed_anew()) failed.push_back(&rank);
  }
  return failed;
}

void record_retry(plan::Ledger& ledger, const Rank& rank, Time now) {
  plan::RoleLedger& role = ledger.roles[rank.role->name];
  const std::int64_t attempt = role.attempts.at(rank.index) + 1;
  role.attempts.set(rank.index, attempt);
  role.recovering.insert(rank.index);
  role.seen.erase(rank.index);
  if (rank.is(RankState::Disrupted)) ++role.disruptions;
  if (rank.role->retry.pause == plan::Retry::Pause::Role) return;
  if (const Duration delay = retry_delay(attempt); delay > Duration::zero())
    role.not_before[rank.index] = later(now, delay);
}

void pause_roles(plan::Ledger& ledger, const std::vector<const Rank*>& failed_anew,
                 const std::map<std::string, Time>& last_success, Time now) {
  std::map<std::string, Time> last_failure;  // by role
  for (const Rank* rank : failed_anew) {
    if (rank->role->retry.pause != plan::Retry::Pause::Role) continue;
    const std::string& role = rank->role->name;
    const Time at = rank->pod == nullptr ? now : rank->pod->finished_at.value_or(now);
    const auto success = last_success.find(role);
    if (success != last_success.end() && at <= success->second) continue;
    ++ledger.roles[role].failures_in_a_row;
    Time& last = last_failure[role];
    last = std::max(last, at);
  }
  for (const auto& [role, at] : last_failure) {
    plan::RoleLedger& known = ledger.roles[role];
    known.pause_until = at + role_pause(known.failures_in_a_row);
  }
}

void forget_recovered(plan::Ledger& ledger, const Census& census, const plan::Plan& plan) {
  for (auto& [name, role] : ledger.roles) {
    const plan::Role* planned = plan.role(name);
    const int size = planned == nullptr ? 0 : static_cast<int>(census.ranks_of(*planned).size());
    role.recovering.erase_from(size);
    role.not_before.erase(role.not_before.lower_bound(size), role.not_before.end());
    for (const int index : role.recovering.values()) {
      const Rank* rank = census.rank(name, index);
      if (rank->is(RankState::Absent) || rank->is(RankState::Pending)) continue;
      role.recovering.erase(index);
      role.not_before.erase(index);
    }
  }
}

Duration retry_delay(std::int64_t attempt) {
  if (attempt <= 1) return Duration::zero();
  const std::int64_t doublings = std::min<std::int64_t>(attempt - 2, 9);
  return std::min<Duration>(seconds(1) * (std::int64_t{1} << doublings), seconds(300));
}

Duration role_pause(std::int64_t failures_in_a_row) {
  if (failures_in_a_row <= 0) return Duration::zero();
  const std::int64_t doublings = std::min<std::int64_t>(failures_in_a_row - 1, 6);
  return std::min<Duration>(seconds(10) * (std::int64_t{1} << doublings), kLongestPause);
}

}  // namespace muster::engine
