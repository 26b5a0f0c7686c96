#include <iterator>

#include <fmt/format.h>

#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/manifest.h"
#include "cli/jobs/wait_deleted.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {
namespace {

struct Doomed {
  api::Resource resource;
  api::ObjectKey key;
  std::string uid;  // once it was asked to go
};

// The words of the command line: NAME or KIND/NAME of jobs, or one RESOURCE and names. A first word
// that names a resource is one, if names follow it.
Result<std::vector<JobName>> parse_words(const plan::Registry& registry,
                                         const std::vector<std::string>& words) {
  std::vector<JobName> wanted;
  if (words.size() >= 2) {
    const auto kinds = resources_named(registry, words.front());
    if (!kinds && kinds.error().code != ErrorCode::NotFound) return fail(kinds.error());
    if (kinds) {
      for (auto name = std::next(words.begin()); name != words.end(); ++name)
        wanted.push_back({.kinds = *kinds, .name = *name});
      return wanted;
    }
  }
  for (const std::string& word : words) wanted.push_back(TRY(parse_job_name(registry, word)));
  return wanted;
}

Task<Result<std::vector<Doomed>>> find_doomed(Context& context, OpenCluster& target,
                                              std::vector<JobName> wanted,
                                              std::vector<std::string> files) {
  std::vector<Doomed> doomed;
  if (!files.empty()) {
    const auto kind = target.is_local() ? TargetKind::Embedded : TargetKind::Kubernetes;
    for (const Manifest& manifest :
         CO_TRY(load_manifests(files, context.registry, target.ns(), kind)))
      doomed.push_back({.resource = manifest.resource, .key = api::key_of(manifest.object)});
  }
  for (const JobName& one : wanted) {
    const NamedResource& first = one.kinds.front();
    if (first.dialect == nullptr) {
      doomed.push_back(
          {.resource = first.resource,
           .key = {.ns = first.resource.namespaced() ? target.ns() : "", .name = one.name}});
      continue;
    }
    const FoundJob found = CO_TRY(co_await find_job(context, target.cluster(), target.ns(), one));
    doomed.push_back(
        {.resource = found.dialect->identity().resource, .key = api::key_of(*found.job)});
  }
  co_return doomed;
}

// The uid of what is going.
Task<Result<std::string>> request_deletion(cluster::Cluster& cluster, Doomed one,
                                           std::optional<int> grace_seconds) {
  const auto object = CO_TRY(co_await cluster.get(one.resource, one.key));
  std::string uid = api::uid_of(*object);
  CO_TRY(
      co_await cluster.remove(one.resource, one.key, {.uid = uid, .grace_seconds = grace_seconds}));
  co_return uid;
}

Task<Result<int>> remove_from(Context& context, OpenCluster& target, std::vector<JobName> wanted,
                              DeleteOptions options) {
  auto doomed = CO_TRY(co_await find_doomed(context, target, std::move(wanted), options.files));
  int code = exit_code::kOk;
  // All are asked to go before any is waited for: a claim goes only after the pods that use it.
  for (Doomed& one : doomed) {
    auto uid = co_await request_deletion(target.cluster(), one, options.grace_seconds);
    if (uid) {
      one.uid = std::move(*uid);
    } else {
      print_error(context.output, uid.error());
      code = exit_code::kFailed;
    }
  }
  for (const Doomed& one : doomed) {
    if (one.uid.empty()) continue;
    if (options.wait)
      CO_TRY(
          co_await wait_until_deleted(context, target.cluster(), one.resource, one.key, one.uid));
    context.output.print("{} \"{}\" deleted\n", one.resource.qualified(), one.key.name);
  }
  co_return code;
}

}  // namespace

Task<int> remove(Context& context, DeleteOptions options) {
  auto wanted = parse_words(context.registry, options.words);
  if (!wanted) co_return refuse_resource(context.output, wanted.error());
  co_return co_await with_cluster(
      context, PlaneParts::All,
      [&context, wanted = std::move(*wanted), options = std::move(options)](OpenCluster& target) {
        return remove_from(context, target, wanted, options);
      });
}

}  // namespace muster::cli
