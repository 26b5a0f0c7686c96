#include "cli/tables/surroundings.h"

#include <algorithm>

#include "api/object.h"
#include "api/pod.h"
#include "cli/jobs/job_view.h"
#include "cli/tables/node_rows.h"

namespace muster::cli {
namespace {

// A few jobs are asked for one by one; of more, the pods of all.
constexpr std::size_t kFewJobs = 3;

std::vector<api::Selection> selections_for(const std::vector<Item>& items, const std::string& ns) {
  std::vector<NamedResource> kinds;
  std::vector<api::Selection> of_each;
  for (const Item& item : items) {
    const bool node = item.of->resource == api::nodes();
    const bool job =
        item.of->dialect != nullptr && !JobView::from(*item.object, *item.of->dialect).finished();
    if (!node && !job) continue;
    kinds.push_back(*item.of);
    if (job) {
      of_each.push_back(
          {.ns = api::namespace_of(*item.object),
           .labels = item.of->dialect->identity().pods_of(api::uid_of(*item.object))});
    }
  }
  return of_each.size() == kinds.size() && of_each.size() <= kFewJobs ? of_each
                                                                      : pods_beside(kinds, ns);
}

// Names of kinds that several of these have.
std::set<std::string> shared_kinds(const std::vector<NamedResource>& kinds) {
  std::set<std::string> seen;
  std::set<std::string> shared;
  for (const NamedResource& kind : kinds) {
    if (!seen.insert(kind.resource.kind).second) shared.insert(kind.resource.kind);
  }
  return shared;
}

}  // namespace

std::vector<api::Selection> pods_beside(const std::vector<NamedResource>& kinds,
                                        const std::string& ns) {
  std::set<std::string> labels;
  for (const NamedResource& kind : kinds) {
    if (kind.resource == api::nodes()) return {{}};
    if (kind.dialect != nullptr) labels.insert(kind.dialect->identity().uid_label);
  }
  std::vector<api::Selection> selections;
  for (const std::string& label : labels) selections.push_back({.ns = ns, .labels = label});
  return selections;
}

Surroundings with_pods(Time now, const std::vector<NamedResource>& kinds, const Objects& pods) {
  Surroundings around{.now = now, .pods_known = true, .shared_kinds = shared_kinds(kinds)};
  std::set<std::string> labels;
  for (const NamedResource& kind : kinds) {
    if (kind.dialect != nullptr) labels.insert(kind.dialect->identity().uid_label);
  }
  for (const auto& pod : pods) {
    if (takes_room(*pod)) around.pods_on_node[api::node_name_of(*pod)].push_back(pod);
    for (const std::string& label : labels) {
      if (const std::string& uid = api::label_of(*pod, label); !uid.empty())
        around.pods_of_job[uid].push_back(pod);
    }
  }
  return around;
}

Task<Surroundings> look_around(const Context& context, cluster::Cluster& cluster,
                               std::vector<Item> items, std::string ns) {
  std::vector<NamedResource> kinds;
  for (const Item& item : items) {
    if (std::ranges::find(kinds, item.of->resource, &NamedResource::resource) == kinds.end())
      kinds.push_back(*item.of);
  }
  Objects pods;
  for (const api::Selection& where : selections_for(items, ns)) {
    const auto found = co_await list_all(cluster, api::pods(), where);
    if (!found)
      co_return Surroundings{.now = context.loop.now(), .shared_kinds = shared_kinds(kinds)};
    pods.insert(pods.end(), found->begin(), found->end());
  }
  co_return with_pods(context.loop.now(), kinds, pods);
}

}  // namespace muster::cli
