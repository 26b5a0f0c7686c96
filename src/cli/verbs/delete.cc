#include <fmt/format.h>

#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/manifest.h"
#include "cli/jobs/resource_names.h"
#include "cli/jobs/wait_deleted.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {
namespace {

struct Doomed {
  api::Resource resource;
  api::ObjectKey key;
};

Task<Result<std::vector<Doomed>>> find_doomed(Context& context, OpenCluster& target,
                                              DeleteOptions options) {
  std::vector<Doomed> doomed;
  if (!options.files.empty()) {
    for (const Manifest& manifest :
         CO_TRY(load_manifests(options.files, context.registry, target.ns()))) {
      doomed.push_back({.resource = manifest.resource, .key = api::key_of(manifest.object)});
    }
  }
  // A first word that names a resource is one, if names follow it.
  Result<std::vector<api::Resource>> resources = fail(ErrorCode::NotFound, "no resource named");
  if (options.words.size() >= 2)
    resources = resources_named(context.registry, options.words.front());
  if (resources) options.words.erase(options.words.begin());
  for (const std::string& name : options.words) {
    if (resources && resources->size() == 1) {
      const api::Resource& resource = resources->front();
      doomed.push_back({.resource = resource,
                        .key = {.ns = resource.namespaced() ? target.ns() : "", .name = name}});
    } else {
      const FoundJob found =
          CO_TRY(co_await find_job(context, target.cluster(), target.ns(), name));
      doomed.push_back(
          {.resource = found.dialect->identity().resource, .key = api::key_of(*found.job)});
    }
  }
  co_return doomed;
}

Task<Result<int>> remove_from(Context& context, OpenCluster& target, DeleteOptions options) {
  const auto doomed = CO_TRY(co_await find_doomed(context, target, options));
  for (const Doomed& one : doomed) {
    const auto object = CO_TRY(co_await target.cluster().get(one.resource, one.key));
    const std::string uid = api::uid_of(*object);
    CO_TRY(co_await target.cluster().remove(one.resource, one.key,
                                            {.uid = uid, .grace_seconds = options.grace_seconds}));
    if (options.wait)
      CO_TRY(co_await wait_until_deleted(context, target.cluster(), one.resource, one.key, uid));
    fmt::print("{} \"{}\" deleted\n", one.resource.qualified(), one.key.name);
  }
  co_return exit_code::kOk;
}

}  // namespace

Task<int> remove(Context& context, DeleteOptions options) {
  return with_cluster(context, PlaneParts::All,
                      [&context, options = std::move(options)](OpenCluster& target) {
                        return remove_from(context, target, options);
                      });
}

}  // namespace muster::cli
