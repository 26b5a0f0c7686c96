#include "cli/run/last_word.h"

#include <algorithm>

#include "api/pod.h"
#include "base/strings.h"
#include "plan/plan.h"

namespace muster::cli {
namespace {

using Pods = std::map<std::string, cluster::ObjectPtr>;

// The pod that failed first, as the cause.
std::optional<plan::Cause> first_failure(const Pods& pods) {
  std::optional<plan::Cause> first;
  for (const auto& [name, pod] : pods) {
    auto cause = pod_view(*pod).ledger.cause;
    if (!cause || (first && first->at && cause->at && *first->at <= *cause->at)) continue;
    cause->role = api::label_of(*pod, plan::labels::kRole);
    cause->index =
        static_cast<int>(parse_int(api::label_of(*pod, plan::labels::kIndex)).value_or(0));
    first = std::move(cause);
  }
  return first;
}

}  // namespace

std::optional<JobView> last_word(const Followed& followed, const JobFollower& follower) {
  if (!follower.job()) return std::nullopt;
  JobView view = followed.view(*follower.job());
  if (view.finished()) return view;
  const Pods& pods = follower.last_seen();
  const bool all_ended = !pods.empty() && pods.size() >= static_cast<std::size_t>(view.ranks) &&
                         std::ranges::all_of(pods, [](const auto& entry) {
                           return api::is_finished(api::phase_of(*entry.second));
                         });
  if (!follower.gone() || !all_ended) return std::nullopt;
  view.ledger.cause = first_failure(pods);
  view.phase = view.ledger.cause ? plan::Phase::Failed : plan::Phase::Succeeded;
  return view;
}

}  // namespace muster::cli
