#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "cli/cluster/open_cluster.h"
#include "cli/describe/describe_job.h"
#include "cli/describe/describe_node.h"
#include "cli/describe/describe_other.h"
#include "cli/describe/describe_pod.h"
#include "cli/describe/description.h"
#include "cli/jobs/listing.h"
#include "cli/objects/find_object.h"
#include "cli/print_error.h"
#include "cli/tables/node_rows.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {
namespace {

Task<Result<std::string>> describe_events(cluster::Cluster& cluster, cluster::ObjectPtr object,
                                          Time now) {
  // Those of a node name it instead of its uid.
  const bool is_node = api::kind_of(*object) == "Node";
  auto listed = co_await list_all(
      cluster, api::events(),
      {.ns = api::namespace_of(*object),
       .fields = is_node ? "involvedObject.kind=Node,involvedObject.name=" + api::name_of(*object)
                         : "involvedObject.uid=" + api::uid_of(*object)});
  // Who may see an object need not be allowed to read events; the rest is worth showing.
  if (!listed && listed.error().code == ErrorCode::Forbidden)
    co_return "Events: cannot be read: " + listed.error().message + "\n";
  auto events = CO_TRY(std::move(listed));
  std::ranges::sort(events, {},
                    [](const auto& event) { return (*event)["lastTimestamp"].as_string(); });
  std::vector<std::vector<std::string>> rows = {{"AGE", "TYPE", "REASON", "MESSAGE"}};
  for (const auto& event : events) {
    const auto last = api::time_at((*event)["lastTimestamp"]);
    rows.push_back({last ? format_age(now - *last) : "-", (*event)["type"].as_string(),
                    (*event)["reason"].as_string(), (*event)["message"].as_string()});
  }
  Description text(0);
  text.table("Events", rows);
  co_return text.text();
}

Task<Result<std::string>> describe_details(Context& context, cluster::Cluster& cluster,
                                           FoundObject found) {
  const json::Value& object = *found.object;
  if (const plan::Dialect* dialect = found.of.dialect) {
    const auto pods =
        CO_TRY(co_await list_all(cluster, api::pods(),
                                 {.ns = api::namespace_of(object),
                                  .labels = dialect->identity().pods_of(api::uid_of(object))}));
    co_return describe_job(context, object, *dialect, pods);
  }
  if (found.of.resource == api::pods()) co_return describe_pod(object);
  if (found.of.resource == api::nodes()) {
    auto pods = CO_TRY(co_await list_all(cluster, api::pods(),
                                         {.fields = "spec.nodeName=" + api::name_of(object)}));
    std::erase_if(pods, [](const auto& pod) { return !takes_room(*pod); });
    co_return describe_node(object, pods);
  }
  co_return describe_other(object);
}

// One after the other, an empty line between.
Task<Result<void>> describe_all(Context& context, cluster::Cluster& cluster,
                                std::vector<FoundObject> all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string details = CO_TRY(co_await describe_details(context, cluster, all[i]));
    const std::string events =
        CO_TRY(co_await describe_events(cluster, all[i].object, context.loop.now()));
    context.output.print("{}{}{}", i > 0 ? "\n" : "", details, events);
  }
  co_return Result<void>{};
}

Task<Result<int>> describe_named(Context& context, OpenCluster& target,
                                 std::vector<ObjectName> names) {
  std::vector<FoundObject> all;
  int code = exit_code::kOk;
  for (const ObjectName& name : names) {
    auto found =
        co_await find_object(context, target.cluster(), target.ns(), name, BareName::JobOrPod);
    if (found) {
      all.push_back(std::move(*found));
    } else if (found.error().code == ErrorCode::NotFound) {
      print_error(context.output, found.error());
      code = exit_code::kFailed;
    } else {
      co_return fail(found.error());
    }
  }
  CO_TRY(co_await describe_all(context, target.cluster(), std::move(all)));
  co_return code;
}

Task<Result<int>> describe_kinds(Context& context, OpenCluster& target, Wanted wanted) {
  const Fetched fetched =
      CO_TRY(co_await fetch(context, target.cluster(), target.ns(), std::move(wanted)));
  std::vector<FoundObject> all;
  for (const Listing& listing : fetched.listings) {
    for (const auto& object : listing.objects) all.push_back({.of = listing.of, .object = object});
  }
  if (all.empty()) context.output.note("No resources found in {} namespace.\n", target.ns());
  CO_TRY(co_await describe_all(context, target.cluster(), std::move(all)));
  co_return exit_code::kOk;
}

// A word that is both a job's name and a type is the job; where it is only a type, all of it.
Task<Result<int>> describe_word(Context& context, OpenCluster& target, ObjectName name,
                                Wanted wanted) {
  const auto found =
      co_await find_object(context, target.cluster(), target.ns(), name, BareName::Job);
  if (found || found.error().code != ErrorCode::NotFound)
    co_return co_await describe_named(context, target, {name});
  co_return co_await describe_kinds(context, target, std::move(wanted));
}

}  // namespace

Task<int> describe(Context& context, DescribeOptions options) {
  Wanted wanted{.labels = options.labels};
  if (options.words.size() == 1) {
    if (auto kinds = resources_listed(context.registry, options.words.front()))
      wanted.kinds = std::move(*kinds);
  }
  auto names = parse_names(context.registry, options.words);
  if (!names) co_return refuse_resource(context.output, names.error());
  if (!options.labels.empty() && wanted.kinds.empty()) {
    co_return refuse_resource(
        context.output,
        {.code = ErrorCode::BadRequest,
         .message = fmt::format("-l selects from a type: {}",
                                context.command("describe pods -l " + options.labels))});
  }
  co_return co_await with_cluster(
      context, PlaneParts::Store,
      [&context, names = std::move(*names), wanted = std::move(wanted)](OpenCluster& target) {
        if (!wanted.labels.empty()) return describe_kinds(context, target, wanted);
        if (!wanted.kinds.empty()) return describe_word(context, target, names.front(), wanted);
        return describe_named(context, target, names);
      });
}

}  // namespace muster::cli
