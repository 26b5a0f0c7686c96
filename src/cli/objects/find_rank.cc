#include "cli/objects/find_rank.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "api/exec.h"
#include "api/pod.h"
#include "base/strings.h"
#include "cli/jobs/listing.h"
#include "cli/jobs/rank_filter.h"
#include "plan/plan.h"

namespace muster::cli {
namespace {

struct Candidate {
  std::size_t order = 0;  // of its role in the plan
  std::string role;
  int index = 0;
  FoundRank rank;
};

// Where a role stands in the plan; those that it does not know come last.
std::size_t order_of(const plan::Plan& plan, const std::string& role) {
  const auto found = std::ranges::find_if(
      plan.roles, [&](const plan::Role& one) { return equal_ignoring_case(one.name, role); });
  return static_cast<std::size_t>(found - plan.roles.begin());
}

std::vector<Candidate> running_ranks(const plan::Plan& plan,
                                     const std::vector<cluster::ObjectPtr>& pods) {
  std::vector<Candidate> candidates;
  for (const auto& pod : pods) {
    const std::string& role = api::label_of(*pod, plan::labels::kRole);
    const std::size_t order = order_of(plan, role);
    const std::string container = order < plan.roles.size() ? plan.roles[order].main_container : "";
    const auto running = api::exec_container(*pod, container);
    if (!running) continue;
    candidates.push_back({.order = order,
                          .role = role,
                          .index = static_cast<int>(
                              parse_int(api::label_of(*pod, plan::labels::kIndex)).value_or(0)),
                          .rank = {.pod = api::key_of(*pod), .container = *running}});
  }
  std::ranges::sort(candidates, {},
                    [](const Candidate& one) { return std::pair(one.order, one.index); });
  return candidates;
}

std::string those_that_run(const std::vector<Candidate>& candidates) {
  if (candidates.empty()) return "none of its pods runs";
  std::vector<KnownRank> ranks;
  for (const Candidate& one : candidates) ranks.push_back({.role = one.role, .index = one.index});
  return fmt::format("these run: {}", shown_ranks(ranks));
}

// The ranks of the plan, and of pods beyond it.
std::vector<KnownRank> known_ranks(const plan::Plan& plan,
                                   const std::vector<cluster::ObjectPtr>& pods) {
  std::vector<KnownRank> ranks = ranks_of(plan);
  for (const auto& pod : pods) {
    KnownRank rank{.role = api::label_of(*pod, plan::labels::kRole),
                   .index = static_cast<int>(
                       parse_int(api::label_of(*pod, plan::labels::kIndex)).value_or(0))};
    if (std::ranges::find(ranks, rank) == ranks.end()) ranks.push_back(std::move(rank));
  }
  return ranks;
}

}  // namespace

Task<Result<FoundRank>> find_running_rank(cluster::Cluster& cluster, FoundJob job, RankName rank) {
  const auto pods =
      CO_TRY(co_await list_all(cluster, api::pods(),
                               {.ns = api::namespace_of(*job.job),
                                .labels = job.dialect->identity().pods_of(api::uid_of(*job.job))}));
  const plan::Plan plan = job.dialect->compile(*job.job).value_or(plan::Plan{});
  RankFilter asked{.role = rank.role};
  if (rank.index) asked.ranks.insert(*rank.index);
  CO_TRY(check_filter(asked, api::name_of(*job.job), known_ranks(plan, pods)));
  const auto candidates = running_ranks(plan, pods);
  const auto fits = [&](const Candidate& one) {
    return (rank.role.empty() || equal_ignoring_case(rank.role, one.role)) &&
           one.index == rank.index.value_or(0);
  };
  const auto found = std::ranges::find_if(candidates, fits);
  if (found != candidates.end()) co_return found->rank;
  const std::string which = fmt::format("{}{}rank {}", printable(rank.role),
                                        rank.role.empty() ? "" : " ", rank.index.value_or(0));
  co_return fail(ErrorCode::NotFound,
                 fmt::format("{} of job \"{}\" does not run; {}", which, api::name_of(*job.job),
                             those_that_run(candidates)));
}

}  // namespace muster::cli
