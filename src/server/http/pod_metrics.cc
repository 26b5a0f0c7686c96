#include "server/http/pod_metrics.h"

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "server/http/answer.h"

namespace muster::server {
namespace {

constexpr std::string_view kGroupVersion = "metrics.k8s.io/v1beta1";

json::Value show_pod(const PodMetrics& metrics, Time now) {
  json::Array containers;
  for (const ContainerMetrics& one : metrics.containers) {
    json::Object usage{{"cpu", fmt::format("{}n", one.cpu_nanocores)},
                       {"memory", fmt::format("{}Ki", one.memory_bytes / 1024)}};
    for (const auto& [resource, amount] : one.others) usage.set(resource, amount);
    containers.emplace_back(json::Object{{"name", one.container}, {"usage", std::move(usage)}});
  }
  const json::Value& pod = *metrics.pod;
  json::Value shown;
  shown["kind"] = "PodMetrics";
  shown["apiVersion"] = kGroupVersion;
  shown["metadata"] = json::Object{{"name", api::name_of(pod)},
                                   {"namespace", api::namespace_of(pod)},
                                   {"creationTimestamp", format_time(now)}};
  if (pod["metadata"]["labels"].is_object())
    shown["metadata"]["labels"] = pod["metadata"]["labels"];
  shown["timestamp"] = format_time(now);
  shown["window"] = fmt::format(
      "{}ms", std::chrono::duration_cast<std::chrono::milliseconds>(metrics.window).count());
  shown["containers"] = std::move(containers);
  return shown;
}

Task<Result<std::vector<ObjectPtr>>> chosen_pods(Core& core, RequestPath path) {
  ListOptions options{.where = {.ns = path.ns,
                                .labels = std::string(path.query.get("labelSelector")),
                                .fields = std::string(path.query.get("fieldSelector"))}};
  if (!path.name.empty()) options.where.fields = "metadata.name=" + path.name;
  const auto page = CO_TRY(co_await core.list(*core.kinds().find(api::pods()), std::move(options)));
  std::vector<ObjectPtr> running;
  for (const ObjectPtr& pod : page.items) {
    if (api::phase_of(*pod) == api::PodPhase::Running) running.push_back(pod);
  }
  co_return running;
}

}  // namespace

Task<Result<net::HttpResponse>> serve_pod_metrics(Core& core, MetricsSource* source,
                                                  RequestPath path) {
  if (path.version != "v1beta1" || path.plural != "pods" || !path.subresource.empty())
    co_return fail(ErrorCode::NotFound, "the server could not find the requested resource");
  auto pods = CO_TRY(co_await chosen_pods(core, path));
  std::vector<PodMetrics> measured;
  if (source != nullptr) measured = co_await source->measure(std::move(pods));
  const Time now = core.loop().now();
  if (!path.name.empty()) {
    if (measured.empty()) {
      co_return fail(
          ErrorCode::NotFound,
          fmt::format("podmetrics.metrics.k8s.io \"{}/{}\" not found", path.ns, path.name));
    }
    co_return json_response(200, show_pod(measured.front(), now));
  }
  json::Array items;
  for (const PodMetrics& one : measured) items.push_back(show_pod(one, now));
  json::Value list;
  list["kind"] = "PodMetricsList";
  list["apiVersion"] = kGroupVersion;
  list["metadata"] = json::Object();
  list["items"] = std::move(items);
  co_return json_response(200, list);
}

json::Value metrics_group() {
  const json::Object version{{"groupVersion", kGroupVersion}, {"version", "v1beta1"}};
  json::Value entry;
  entry["name"] = kMetricsGroup;
  entry["preferredVersion"] = version;
  entry["versions"] = json::Array{version};
  return entry;
}

json::Value metrics_resources() {
  json::Value list;
  list["kind"] = "APIResourceList";
  list["apiVersion"] = "v1";
  list["groupVersion"] = kGroupVersion;
  list["resources"] = json::Array{json::Object{{"name", "pods"},
                                               {"singularName", ""},
                                               {"namespaced", true},
                                               {"kind", "PodMetrics"},
                                               {"verbs", json::Array{"get", "list"}}}};
  return list;
}

}  // namespace muster::server
