#include <iterator>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/listing.h"
#include "cli/jobs/manifest.h"
#include "cli/jobs/wait_deleted.h"
#include "cli/objects/find_object.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {
namespace {

struct Doomed {
  api::Resource resource;
  api::ObjectKey key;
  std::string uid;  // once it was asked to go
};

// What could not be found or may not go is said at once; the rest goes.
struct Plan {
  std::vector<Doomed> doomed;
  int code = exit_code::kOk;
};

bool selects(const DeleteOptions& options) {
  return options.all || !options.labels.empty();
}

// --all and -l: of these resources, or of jobs. Otherwise the words are names.
Result<Wanted> what(const plan::Registry& registry, const DeleteOptions& options) {
  Wanted wanted{.labels = options.labels};
  if (!selects(options)) {
    wanted.names = TRY(parse_names(registry, options.words));
    return wanted;
  }
  if (options.words.size() > 1 || !options.files.empty() ||
      (options.words.size() == 1 && options.words.front().find('/') != std::string::npos)) {
    return fail(ErrorCode::BadRequest,
                fmt::format("{} and names exclude each other: name things, or select them",
                            options.all ? "--all" : "-l"));
  }
  wanted.kinds =
      TRY(resources_listed(registry, options.words.empty() ? "jobs" : options.words.front()));
  return wanted;
}

// Only this machine's own node is refused here; what to type instead, we know best.
Error with_remedy(const Context& context, const OpenCluster& target, const Doomed& one,
                  Error error) {
  if (target.is_local() && one.resource == api::nodes() && error.code == ErrorCode::Forbidden)
    error.message += ": " + context.command("delete jobs,pods --all -A");
  return error;
}

// A name that is a pod's is told from one that is nobody's.
Task<Error> explain(const Context& context, OpenCluster& target, ObjectName name, Error error) {
  if (!name.bare) co_return error;
  const auto pod =
      co_await target.cluster().get(api::pods(), {.ns = target.ns(), .name = name.name});
  if (!pod) co_return error;
  error.message = fmt::format("no job \"{}\" in namespace {}; to delete the pod: {}", name.name,
                              target.ns(), context.command("delete pods/" + name.name));
  co_return error;
}

Task<Result<Plan>> named(Context& context, OpenCluster& target, std::vector<ObjectName> names,
                         bool ignore_not_found) {
  Plan plan;
  for (const ObjectName& name : names) {
    const auto found =
        co_await find_object(context, target.cluster(), target.ns(), name, BareName::Job);
    if (found) {
      plan.doomed.push_back({.resource = found->of.resource, .key = api::key_of(*found->object)});
      continue;
    }
    if (found.error().code != ErrorCode::NotFound) co_return fail(found.error());
    if (ignore_not_found) continue;
    print_error(context.output, co_await explain(context, target, name, found.error()));
    plan.code = exit_code::kFailed;
  }
  co_return plan;
}

Task<Result<Plan>> selected(Context& context, OpenCluster& target, Wanted wanted) {
  Plan plan;
  const std::string ns = context.all_namespaces ? "" : target.ns();
  const Fetched fetched = CO_TRY(co_await fetch(context, target.cluster(), ns, std::move(wanted)));
  for (const Listing& listing : fetched.listings) {
    for (const auto& object : listing.objects)
      plan.doomed.push_back({.resource = listing.of.resource, .key = api::key_of(*object)});
  }
  if (plan.doomed.empty()) {
    context.output.note("No resources found{}.\n",
                        ns.empty() ? "" : fmt::format(" in {} namespace", ns));
  }
  co_return plan;
}

Result<Plan> of_files(const Context& context, const OpenCluster& target,
                      const std::vector<std::string>& files) {
  Plan plan;
  const auto kind = target.is_local() ? TargetKind::Embedded : TargetKind::Kubernetes;
  for (const Manifest& manifest : TRY(load_manifests(files, context.registry, target.ns(), kind)))
    plan.doomed.push_back({.resource = manifest.resource, .key = api::key_of(manifest.object)});
  return plan;
}

Task<Result<Plan>> make_plan(Context& context, OpenCluster& target, Wanted wanted,
                             DeleteOptions options) {
  if (selects(options)) co_return co_await selected(context, target, std::move(wanted));
  Plan plan;
  if (!options.files.empty()) plan = CO_TRY(of_files(context, target, options.files));
  Plan more =
      CO_TRY(co_await named(context, target, std::move(wanted.names), options.ignore_not_found));
  plan.code = more.code;
  plan.doomed.insert(plan.doomed.end(), std::make_move_iterator(more.doomed.begin()),
                     std::make_move_iterator(more.doomed.end()));
  co_return plan;
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

Task<Result<int>> remove_from(Context& context, OpenCluster& target, Wanted wanted,
                              DeleteOptions options) {
  const bool absent_is_fine = options.ignore_not_found || selects(options);
  Plan plan = CO_TRY(co_await make_plan(context, target, std::move(wanted), options));
  // All are asked to go before any is waited for: a claim goes only after the pods that use it.
  for (Doomed& one : plan.doomed) {
    auto uid = co_await request_deletion(target.cluster(), one, options.grace_seconds);
    if (uid) {
      one.uid = std::move(*uid);
    } else if (uid.error().code != ErrorCode::NotFound || !absent_is_fine) {
      print_error(context.output, with_remedy(context, target, one, uid.error()));
      plan.code = exit_code::kFailed;
    }
  }
  for (const Doomed& one : plan.doomed) {
    if (one.uid.empty()) continue;
    if (options.wait)
      CO_TRY(
          co_await wait_until_deleted(context, target.cluster(), one.resource, one.key, one.uid));
    context.output.print("{} \"{}\" deleted\n", one.resource.qualified(), one.key.name);
    context.output.flush();
  }
  co_return plan.code;
}

}  // namespace

Task<int> remove(Context& context, DeleteOptions options) {
  auto wanted = what(context.registry, options);
  if (!wanted) co_return refuse_resource(context.output, wanted.error());
  co_return co_await with_cluster(
      context, PlaneParts::All,
      [&context, wanted = std::move(*wanted), options = std::move(options)](OpenCluster& target) {
        return remove_from(context, target, wanted, options);
      });
}

}  // namespace muster::cli
