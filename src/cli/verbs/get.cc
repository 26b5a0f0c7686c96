#include <functional>

#include <fmt/format.h>

#include "api/pod.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/job_view.h"
#include "cli/jobs/listing.h"
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

std::vector<std::string> job_row(const json::Value& job, const plan::Dialect& dialect,
                                 const std::string& kind, Time now, bool wide) {
  const JobView view = JobView::from(job, dialect);
  std::vector<std::string> row = {api::name_of(job),
                                  kind,
                                  std::string(view.state()),
                                  fmt::format("{}/{}", view.ranks_ready, view.ranks),
                                  std::to_string(view.restarts),
                                  age_of(job, now)};
  if (wide)
    row.push_back(view.finished() && view.ledger.cause
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

std::vector<std::string> claim_row(const json::Value& claim, Time now) {
  return {api::name_of(claim),
          api::is_deleting(claim) ? "Terminating" : claim["status"]["phase"].as_string(),
          claim["spec"]["volumeName"].as_string(),
          claim["status"]["capacity"]["storage"].as_string(),
          claim["spec"]["storageClassName"].as_string(),
          age_of(claim, now)};
}

std::vector<std::string> volume_row(const json::Value& volume, Time now) {
  const json::Value& spec = volume["spec"];
  const json::Value& claim = spec["claimRef"];
  return {api::name_of(volume),
          spec["capacity"]["storage"].as_string(),
          spec["persistentVolumeReclaimPolicy"].as_string(),
          volume["status"]["phase"].as_string(),
          claim.is_object() ? claim["namespace"].as_string() + "/" + claim["name"].as_string() : "",
          spec["storageClassName"].as_string(),
          age_of(volume, now)};
}

// Header and row of one resource.
struct Layout {
  std::vector<std::string> header;
  std::function<std::vector<std::string>(const json::Value&)> row;
};

Layout job_layout(const plan::Dialect& dialect, const std::string& kind, Time now, bool wide) {
  std::vector<std::string> header = {"NAME", "KIND", "STATE", "RANKS", "RESTARTS", "AGE"};
  if (wide) header.emplace_back("REASON");
  return {std::move(header), [&dialect, kind, now, wide](const json::Value& job) {
            return job_row(job, dialect, kind, now, wide);
          }};
}

Layout layout_of(const api::Resource& resource, Time now, bool wide) {
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
  if (resource == api::persistent_volume_claims()) {
    return {{"NAME", "STATUS", "VOLUME", "CAPACITY", "STORAGECLASS", "AGE"},
            [=](const json::Value& claim) { return claim_row(claim, now); }};
  }
  if (resource == api::persistent_volumes()) {
    return {{"NAME", "CAPACITY", "RECLAIM POLICY", "STATUS", "CLAIM", "STORAGECLASS", "AGE"},
            [=](const json::Value& volume) { return volume_row(volume, now); }};
  }
  return {{"NAME", "AGE"}, [=](const json::Value& object) {
            return std::vector<std::string>{api::name_of(object), age_of(object, now)};
          }};
}

void print_objects(Output& output, const std::vector<cluster::ObjectPtr>& objects,
                   const GetOptions& options) {
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
  output.print("{}{}", options.output == "json" ? json::write_pretty(shown) : yaml::write(shown),
               options.output == "json" ? "\n" : "");
}

// The kind's name, with its group where another kind of that name is shown beside it.
std::string shown_kind(const plan::Dialect& dialect, const std::vector<Listing>& listings) {
  const api::Resource& resource = dialect.identity().resource;
  for (const Listing& other : listings) {
    if (other.of.dialect != &dialect && other.of.resource.kind == resource.kind &&
        !other.objects.empty())
      return fmt::format("{}.{}", resource.kind, resource.group);
  }
  return resource.kind;
}

Rows table(const Context& context, const std::vector<Listing>& listings, bool wide) {
  const Time now = context.loop.now();
  Rows rows;
  for (const Listing& listing : listings) {
    const plan::Dialect* dialect = listing.of.dialect;
    const Layout layout = dialect != nullptr
                              ? job_layout(*dialect, shown_kind(*dialect, listings), now, wide)
                              : layout_of(listing.of.resource, now, wide);
    for (const auto& object : listing.objects) {
      if (rows.empty()) {
        rows.push_back(layout.header);
        if (context.all_namespaces) rows.back().insert(rows.back().begin(), "NAMESPACE");
      }
      auto row = layout.row(*object);
      if (context.all_namespaces) row.insert(row.begin(), api::namespace_of(*object));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

void print_names(Output& output, const std::vector<Listing>& listings) {
  for (const Listing& listing : listings) {
    for (const auto& object : listing.objects)
      output.print("{}/{}\n", listing.of.resource.qualified(), api::name_of(*object));
  }
}

Task<Result<int>> print_from(Context& context, OpenCluster& target,
                             std::vector<NamedResource> kinds, GetOptions options) {
  const std::string ns = context.all_namespaces ? "" : target.ns();
  const auto listings = CO_TRY(co_await fetch_listings(target.cluster(), std::move(kinds), ns,
                                                       options.names, options.labels));
  std::vector<cluster::ObjectPtr> all;
  for (const Listing& listing : listings)
    all.insert(all.end(), listing.objects.begin(), listing.objects.end());
  if (options.output == "json" || options.output == "yaml") {
    print_objects(context.output, all, options);
  } else if (all.empty()) {
    context.output.note("No resources found{}.\n",
                        ns.empty() ? "" : fmt::format(" in {} namespace", ns));
  } else if (options.output == "name") {
    print_names(context.output, listings);
  } else {
    context.output.print("{}", columns(table(context, listings, options.output == "wide")));
  }
  co_return exit_code::kOk;
}

}  // namespace

Task<int> get(Context& context, GetOptions options) {
  const auto kinds = resources_named(context.registry, options.resource);
  if (!kinds) co_return refuse_resource(context.output, kinds.error());
  co_return co_await with_cluster(
      context, PlaneParts::Store,
      [&context, kinds = *kinds, options = std::move(options)](OpenCluster& target) {
        return print_from(context, target, kinds, options);
      });
}

}  // namespace muster::cli
