#include <fmt/format.h>

#include "api/pod.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/job_view.h"
#include "cli/jobs/resource_names.h"
#include "cli/terminal/columns.h"
#include "cli/verbs/verbs.h"
#include "json/write.h"
#include "yaml/yaml.h"

namespace muster::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string age_of(const json::Value& object, Time now) {
  const auto created = api::creation_time_of(object);
  return created ? format_age(now - *created) : "<unknown>";
}

std::vector<std::string> job_row(const json::Value& job, const plan::Dialect& dialect, Time now,
                                 bool wide) {
  const JobView view = JobView::from(job, dialect);
  std::vector<std::string> row = {api::name_of(job),
                                  dialect.identity().resource.kind,
                                  view.state,
                                  fmt::format("{}/{}", view.ranks_ready, view.ranks),
                                  std::to_string(view.restarts),
                                  age_of(job, now)};
  if (wide)
    row.push_back(view.finished && view.ledger.cause
                      ? std::string(to_string(view.ledger.cause->kind))
                      : view.reason);
  return row;
}

// As kubectl words the state of a pod, for the cases that occur here.
std::string pod_state(const json::Value& pod) {
  if (api::is_deleting(pod)) return "Terminating";
  for (const json::Value& status : pod["status"]["containerStatuses"].as_array()) {
    const std::string& waiting = status["state"]["waiting"]["reason"].as_string();
    if (!waiting.empty()) return waiting;
    const std::string& ended = status["state"]["terminated"]["reason"].as_string();
    if (!ended.empty()) return ended;
  }
  const std::string& reason = pod["status"]["reason"].as_string();
  return reason.empty() ? std::string(to_string(api::phase_of(pod))) : reason;
}

std::vector<std::string> pod_row(const json::Value& pod, Time now, bool wide) {
  int ready = 0;
  for (const json::Value& status : pod["status"]["containerStatuses"].as_array())
    ready += status["ready"].as_bool() ? 1 : 0;
  std::vector<std::string> row = {
      api::name_of(pod), fmt::format("{}/{}", ready, pod["spec"]["containers"].as_array().size()),
      pod_state(pod), std::to_string(api::restarts_of(pod)), age_of(pod, now)};
  if (wide) {
    row.push_back(api::pod_ip_of(pod).empty() ? "<none>" : api::pod_ip_of(pod));
    row.push_back(api::node_name_of(pod).empty() ? "<none>" : api::node_name_of(pod));
  }
  return row;
}

std::vector<std::string> event_row(const json::Value& event, Time now) {
  const auto last = api::time_at(event["lastTimestamp"]);
  return {last ? format_age(now - *last) : "<unknown>", event["type"].as_string(),
          event["reason"].as_string(),
          fmt::format("{}/{}", event["involvedObject"]["kind"].as_string(),
                      event["involvedObject"]["name"].as_string()),
          event["message"].as_string()};
}

// Header and row of one resource.
struct Layout {
  std::vector<std::string> header;
  std::function<std::vector<std::string>(const json::Value&)> row;
};

Layout layout_of(const Context& context, const api::Resource& resource, bool wide) {
  const Time now = context.loop.now();
  if (const plan::Dialect* dialect = context.registry.find(resource)) {
    std::vector<std::string> header = {"NAME", "KIND", "STATE", "RANKS", "RESTARTS", "AGE"};
    if (wide) header.emplace_back("REASON");
    return {std::move(header),
            [=](const json::Value& job) { return job_row(job, *dialect, now, wide); }};
  }
  if (resource == api::pods()) {
    std::vector<std::string> header = {"NAME", "READY", "STATUS", "RESTARTS", "AGE"};
    if (wide) header.insert(header.end(), {"IP", "NODE"});
    return {std::move(header), [=](const json::Value& pod) { return pod_row(pod, now, wide); }};
  }
  if (resource == api::events()) {
    return {{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"},
            [=](const json::Value& event) { return event_row(event, now); }};
  }
  if (resource == api::services()) {
    return {{"NAME", "TYPE", "CLUSTER-IP", "AGE"}, [=](const json::Value& service) {
              return std::vector<std::string>{
                  api::name_of(service), service["spec"]["type"].as_string(),
                  service["spec"]["clusterIP"].as_string(), age_of(service, now)};
            }};
  }
  return {{"NAME", "AGE"}, [=](const json::Value& object) {
            return std::vector<std::string>{api::name_of(object), age_of(object, now)};
          }};
}

Task<Result<std::vector<cluster::ObjectPtr>>> fetch(cluster::Cluster& cluster,
                                                    api::Resource resource, std::string ns,
                                                    GetOptions options) {
  std::vector<cluster::ObjectPtr> objects;
  for (const std::string& name : options.names) {
    objects.push_back(CO_TRY(
        co_await cluster.get(resource, {.ns = resource.namespaced() ? ns : "", .name = name})));
  }
  if (!options.names.empty()) co_return objects;
  cluster::ListOptions list{
      .where = {.ns = resource.namespaced() ? ns : "", .labels = options.labels}};
  do {
    auto page = CO_TRY(co_await cluster.list(resource, list));
    objects.insert(objects.end(), page.items.begin(), page.items.end());
    list.continue_token = page.continue_token;
  } while (!list.continue_token.empty());
  co_return objects;
}

void print_objects(const std::vector<cluster::ObjectPtr>& objects, const GetOptions& options) {
  json::Value shown;
  if (options.names.size() == 1 && objects.size() == 1) {
    shown = *objects.front();
  } else {
    json::Array items;
    for (const auto& object : objects) items.push_back(*object);
    shown = json::Object{{"apiVersion", "v1"},
                         {"kind", "List"},
                         {"metadata", json::Object{}},
                         {"items", std::move(items)}};
  }
  fmt::print("{}{}", options.output == "json" ? json::write_pretty(shown) : yaml::write(shown),
             options.output == "json" ? "\n" : "");
}

Task<Result<int>> print_from(Context& context, OpenCluster& target, GetOptions options) {
  const auto resources = CO_TRY(resources_named(context.registry, options.resource));
  const std::string ns = context.all_namespaces ? "" : target.ns();
  std::vector<cluster::ObjectPtr> all;
  Rows rows;
  for (const api::Resource& resource : resources) {
    auto objects = co_await fetch(target.cluster(), resource, ns, options);
    if (!objects) {
      // One kind of several may simply not be installed.
      if (resources.size() > 1 && objects.error().code == ErrorCode::NotFound &&
          options.names.empty())
        continue;
      co_return fail(objects.error());
    }
    const Layout layout = layout_of(context, resource, options.output == "wide");
    for (const auto& object : *objects) {
      if (rows.empty()) {
        rows.push_back(layout.header);
        if (context.all_namespaces) rows.back().insert(rows.back().begin(), "NAMESPACE");
      }
      auto row = layout.row(*object);
      if (context.all_namespaces) row.insert(row.begin(), api::namespace_of(*object));
      rows.push_back(std::move(row));
      if (options.output == "name")
        fmt::print("{}/{}\n", resource.qualified(), api::name_of(*object));
      all.push_back(object);
    }
  }
  if (options.output == "json" || options.output == "yaml") {
    print_objects(all, options);
  } else if (all.empty()) {
    fmt::print(stderr, "No resources found{}.\n",
               ns.empty() ? "" : fmt::format(" in {} namespace", ns));
  } else if (options.output != "name") {
    fmt::print("{}", columns(rows));
  }
  co_return exit_code::kOk;
}

}  // namespace

Task<int> get(Context& context, GetOptions options) {
  return with_cluster(context, PlaneParts::Store,
                      [&context, options = std::move(options)](OpenCluster& target) {
                        return print_from(context, target, options);
                      });
}

}  // namespace muster::cli
