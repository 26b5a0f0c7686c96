#include <algorithm>

#include <fmt/format.h>

#include "api/pod.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/job_view.h"
#include "cli/jobs/listing.h"
#include "cli/terminal/columns.h"
#include "cli/verbs/verbs.h"
#include "plan/plan.h"
#include "yaml/yaml.h"

namespace muster::cli {
namespace {

std::string when(const std::optional<Time>& time) {
  return time ? format_time(*time) : "-";
}

void print_job(Output& output, const json::Value& job, const plan::Dialect& dialect) {
  const JobView view = JobView::from(job, dialect);
  output.print("Name:        {}\nNamespace:   {}\nKind:        {} {}\nState:       {}\n",
               api::name_of(job), api::namespace_of(job), dialect.identity().resource.kind,
               dialect.identity().resource.api_version(), view.state());
  output.print("Ranks:       {}/{}\nRestarts:    {}\nStarted:     {}\nCompleted:   {}\n",
               view.ranks_ready, view.ranks, view.restarts, when(view.ledger.start_time),
               when(view.ledger.completion_time));
  if (!view.message.empty()) output.print("Message:     {}\n", view.message);
  output.print("{}", root_cause(view, api::name_of(job)));
  std::vector<std::vector<std::string>> rows = {{"  TYPE", "STATUS", "REASON", "SINCE"}};
  for (const json::Value& condition : job["status"]["conditions"].as_array()) {
    rows.push_back({"  " + condition["type"].as_string(), condition["status"].as_string(),
                    condition["reason"].as_string(), condition["lastTransitionTime"].as_string()});
  }
  output.print("Conditions:\n{}", rows.size() > 1 ? columns(rows) : "  none\n");
}

Task<Result<void>> print_pods(Output& output, cluster::Cluster& cluster,
                              const plan::Dialect& dialect, const json::Value& job) {
  const auto pods = CO_TRY(co_await list_all(
      cluster, api::pods(),
      {.ns = api::namespace_of(job), .labels = dialect.identity().pods_of(api::uid_of(job))}));
  std::vector<std::vector<std::string>> rows = {
      {"  NAME", "ROLE", "RANK", "PHASE", "RESTARTS", "IP", "NODE"}};
  for (const auto& pod : pods) {
    rows.push_back(
        {"  " + api::name_of(*pod), api::label_of(*pod, plan::labels::kRole),
         api::label_of(*pod, plan::labels::kIndex), std::string(to_string(api::phase_of(*pod))),
         std::to_string(api::restarts_of(*pod)), api::pod_ip_of(*pod), api::node_name_of(*pod)});
  }
  output.print("Pods:\n{}", rows.size() > 1 ? columns(rows) : "  none\n");
  co_return Result<void>{};
}

Task<Result<void>> print_events(Output& output, cluster::Cluster& cluster,
                                const json::Value& object, Time now) {
  auto events = CO_TRY(co_await list_all(
      cluster, api::events(),
      {.ns = api::namespace_of(object), .fields = "involvedObject.uid=" + api::uid_of(object)}));
  std::ranges::sort(events, {},
                    [](const auto& event) { return (*event)["lastTimestamp"].as_string(); });
  std::vector<std::vector<std::string>> rows = {{"  AGE", "TYPE", "REASON", "MESSAGE"}};
  for (const auto& event : events) {
    const auto last = api::time_at((*event)["lastTimestamp"]);
    rows.push_back({"  " + (last ? format_age(now - *last) : "-"), (*event)["type"].as_string(),
                    (*event)["reason"].as_string(), (*event)["message"].as_string()});
  }
  output.print("Events:\n{}", rows.size() > 1 ? columns(rows) : "  none\n");
  co_return Result<void>{};
}

Task<Result<int>> describe_job(Context& context, OpenCluster& target, JobName where) {
  const FoundJob found =
      CO_TRY(co_await find_job(context, target.cluster(), target.ns(), std::move(where)));
  print_job(context.output, *found.job, *found.dialect);
  CO_TRY(co_await print_pods(context.output, target.cluster(), *found.dialect, *found.job));
  CO_TRY(co_await print_events(context.output, target.cluster(), *found.job, context.loop.now()));
  co_return exit_code::kOk;
}

Task<Result<int>> describe_object(Context& context, OpenCluster& target, api::Resource resource,
                                  std::string name) {
  const auto object = CO_TRY(co_await target.cluster().get(
      resource, {.ns = resource.namespaced() ? target.ns() : "", .name = name}));
  context.output.print("{}", yaml::write(*object));
  CO_TRY(co_await print_events(context.output, target.cluster(), *object, context.loop.now()));
  co_return exit_code::kOk;
}

// NAME, KIND/NAME, or RESOURCE NAME.
Result<JobName> what(const Context& context, const DescribeOptions& options) {
  if (options.resource.empty()) return parse_job_name(context.registry, options.name);
  return JobName{.kinds = TRY(resources_named(context.registry, options.resource)),
                 .name = options.name};
}

}  // namespace

Task<int> describe(Context& context, DescribeOptions options) {
  const auto wanted = what(context, options);
  if (!wanted) co_return refuse_resource(context.output, wanted.error());
  co_return co_await with_cluster(
      context, PlaneParts::Store, [&context, wanted = *wanted](OpenCluster& target) {
        const NamedResource& first = wanted.kinds.front();
        return first.dialect != nullptr
                   ? describe_job(context, target, wanted)
                   : describe_object(context, target, first.resource, wanted.name);
      });
}

}  // namespace muster::cli
