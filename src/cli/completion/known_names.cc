#include "cli/completion/known_names.h"

#include <algorithm>
#include <filesystem>

#include "api/object.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/listing.h"
#include "plan/plan.h"
#include "rt/wait.h"

namespace muster::cli {
namespace {

using NamesFound = std::vector<std::string>;

// A person waits with a finger on the key.
constexpr Duration kLimitHere = std::chrono::milliseconds(500);
constexpr Duration kLimitThere = std::chrono::milliseconds(1500);

Task<Result<NamesFound>> objects_named(Context& context, OpenCluster& target,
                                       std::string resource) {
  NamesFound names;
  const auto kinds = CO_TRY(resources_named(context.registry, resource));
  for (const NamedResource& kind : kinds) {
    const std::string ns = kind.resource.namespaced() ? target.ns() : "";
    const auto objects = co_await list_all(target.cluster(), kind.resource, {.ns = ns});
    if (!objects) continue;  // a kind that this cluster does not have
    for (const auto& object : *objects) names.push_back(api::name_of(*object));
  }
  co_return names;
}

Task<Result<plan::Plan>> plan_of(Context& context, OpenCluster& target, std::string job) {
  auto where = CO_TRY(parse_job_name(context.registry, job));
  const FoundJob found =
      CO_TRY(co_await find_job(context, target.cluster(), target.ns(), std::move(where)));
  co_return found.dialect->compile(*found.job);
}

Task<Result<NamesFound>> roles_of(Context& context, OpenCluster& target, Completing wanted) {
  const plan::Plan plan = CO_TRY(co_await plan_of(context, target, wanted.job));
  NamesFound names;
  for (const plan::Role& role : plan.roles) names.push_back(role.name);
  co_return names;
}

Task<Result<NamesFound>> ranks_of(Context& context, OpenCluster& target, Completing wanted) {
  const plan::Plan plan = CO_TRY(co_await plan_of(context, target, wanted.job));
  int most = 0;
  for (const plan::Role& role : plan.roles) {
    if (wanted.role.empty() || wanted.role == role.name) most = std::max(most, role.replicas);
  }
  NamesFound names;
  for (int rank = 0; rank < most; ++rank) names.push_back(std::to_string(rank));
  co_return names;
}

Task<Result<NamesFound>> ask(Context& context, OpenCluster& target, Names what, Completing wanted) {
  switch (what) {
    case Names::Jobs:
      co_return co_await objects_named(context, target, "jobs");
    case Names::Objects:
      // NAME NAME: the first one was no resource but a job.
      co_return co_await objects_named(
          context, target,
          resources_named(context.registry, wanted.resource) ? wanted.resource : "jobs");
    case Names::Namespaces:
      co_return co_await objects_named(context, target, "namespaces");
    case Names::Roles:
      co_return co_await roles_of(context, target, std::move(wanted));
    case Names::Ranks:
      co_return co_await ranks_of(context, target, std::move(wanted));
    case Names::Resources:
    case Names::Files:
      break;
  }
  co_return NamesFound{};
}

Task<Result<NamesFound>> ask_cluster(Context& context, Completing wanted) {
  auto target = CO_TRY(co_await OpenCluster::open(context, PlaneParts::Store));
  NamesFound names;
  for (const Names what : wanted.names) {
    const auto found = co_await ask(context, *target, what, wanted);
    if (found) names.insert(names.end(), found->begin(), found->end());
  }
  co_await target->close();
  co_return names;
}

bool needs_cluster(Names what) {
  return what != Names::Resources && what != Names::Files;
}

}  // namespace

Task<std::vector<std::string>> known_names(Context& context, Completing wanted) {
  NamesFound names;
  const bool there = context.wants_cluster();
  std::error_code error;
  const bool somewhere = there || std::filesystem::exists(context.home, error);
  if (somewhere && std::ranges::any_of(wanted.names, needs_cluster)) {
    const auto found = co_await rt::with_timeout(context.loop, there ? kLimitThere : kLimitHere,
                                                 ask_cluster(context, wanted));
    if (found) names = *found;
  }
  if (std::ranges::find(wanted.names, Names::Resources) != wanted.names.end()) {
    const NamesFound known = known_resources(context.registry);
    names.insert(names.end(), known.begin(), known.end());
  }
  co_return names;
}

}  // namespace muster::cli
