#include "server/http/discovery.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/strings.h"
#include "server/http/pod_metrics.h"

namespace muster::server {
namespace {

json::Array strings(const std::vector<std::string>& texts) {
  json::Array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

json::Value version_info() {
  return json::Object{
      {"major", "1"},        {"minor", "36"},           {"gitVersion", "v1.36.0+muster"},
      {"gitCommit", ""},     {"gitTreeState", "clean"}, {"buildDate", "1970-01-01T00:00:00Z"},
      {"goVersion", "none"}, {"compiler", "clang"},     {"platform", "linux/amd64"}};
}

json::Value resource_entry(const Kind& kind) {
  json::Value entry;
  entry["name"] = kind.resource.plural;
  entry["singularName"] = kind.singular;
  entry["namespaced"] = kind.resource.namespaced();
  entry["kind"] = kind.resource.kind;
  entry["verbs"] = json::Array{"create", "delete", "deletecollection", "get",
                               "list",   "patch",  "update",           "watch"};
  if (!kind.short_names.empty()) entry["shortNames"] = strings(kind.short_names);
  if (!kind.categories.empty()) entry["categories"] = strings(kind.categories);
  return entry;
}

json::Value subresource(const Kind& kind, std::string_view name, std::string_view kind_name,
                        std::vector<std::string> verbs) {
  json::Value entry;
  entry["name"] = fmt::format("{}/{}", kind.resource.plural, name);
  entry["singularName"] = "";
  entry["namespaced"] = kind.resource.namespaced();
  entry["kind"] = kind_name;
  entry["verbs"] = strings(verbs);
  return entry;
}

json::Value resource_list(const Kinds& kinds, std::string_view group, std::string_view version) {
  json::Value list;
  list["kind"] = "APIResourceList";
  if (!group.empty()) list["apiVersion"] = "v1";
  list["groupVersion"] =
      group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
  json::Array resources;
  for (const Kind& kind : kinds.all()) {
    if (kind.resource.group != group || kind.resource.version != version) continue;
    resources.push_back(resource_entry(kind));
    if (kind.has_status) {
      resources.push_back(
          subresource(kind, "status", kind.resource.kind, {"get", "patch", "update"}));
    }
    if (kind.is(api::pods())) {
      resources.push_back(subresource(kind, "binding", "Binding", {"create"}));
      resources.push_back(subresource(kind, "exec", "PodExecOptions", {"create", "get"}));
      resources.push_back(subresource(kind, "log", "Pod", {"get"}));
    }
    if (kind.is(api::service_accounts())) {
      json::Value token = subresource(kind, "token", "TokenRequest", {"create"});
      token["group"] = "authentication.k8s.io";
      token["version"] = "v1";
      resources.push_back(std::move(token));
    }
  }
  list["resources"] = std::move(resources);
  return list;
}

json::Value group_entry(const Kinds& kinds, const std::string& group) {
  json::Array versions;
  std::vector<std::string> seen;
  for (const Kind& kind : kinds.all()) {
    const std::string& version = kind.resource.version;
    if (kind.resource.group != group || std::ranges::find(seen, version) != seen.end()) continue;
    seen.push_back(version);
    versions.emplace_back(
        json::Object{{"groupVersion", fmt::format("{}/{}", group, version)}, {"version", version}});
  }
  json::Value entry;
  entry["name"] = group;
  entry["preferredVersion"] = json::Value(versions.front());
  entry["versions"] = std::move(versions);
  return entry;
}

std::vector<std::string> groups_of(const Kinds& kinds) {
  std::vector<std::string> groups;
  for (const Kind& kind : kinds.all()) {
    const std::string& group = kind.resource.group;
    if (!group.empty() && std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

}  // namespace

std::optional<json::Value> discovery(const Kinds& kinds, std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path == "/version") return version_info();
  if (path == "/api") {
    return json::Object{{"kind", "APIVersions"}, {"versions", json::Array{"v1"}}};
  }
  if (path == "/api/v1") return resource_list(kinds, "", "v1");
  const std::vector<std::string> groups = groups_of(kinds);
  if (path == "/apis") {
    json::Array list;
    for (const std::string& group : groups) list.push_back(group_entry(kinds, group));
    list.push_back(metrics_group());
    return json::Object{
        {"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(list)}};
  }
  const auto parts = split(path, '/');  // "", "apis", group, version
  if (parts.size() < 3 || parts.size() > 4 || parts[1] != "apis") return std::nullopt;
  const bool metrics = parts[2] == kMetricsGroup;
  if (!metrics && std::ranges::find(groups, parts[2]) == groups.end()) return std::nullopt;
  if (parts.size() == 3) {
    json::Value entry = metrics ? metrics_group() : group_entry(kinds, std::string(parts[2]));
    entry["kind"] = "APIGroup";
    entry["apiVersion"] = "v1";
    return entry;
  }
  if (metrics && parts[3] == "v1beta1") return metrics_resources();
  json::Value list = resource_list(kinds, parts[2], parts[3]);
  if (list.at_path("resources").as_array().empty()) return std::nullopt;
  return list;
}

}  // namespace muster::server
