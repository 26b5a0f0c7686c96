#include "server/http/printer.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "json/write.h"
#include "server/http/pod_printer.h"
#include "server/http/volume_printer.h"

namespace muster::server {
namespace {

using Cells = std::vector<json::Value>;

const json::Value& null_value() {
  static const json::Value null;
  return null;
}

std::string age_since(const json::Value& time, Time now) {
  const auto then = api::time_at(time);
  return then ? format_age(std::max(now - *then, Duration::zero())) : "<unknown>";
}

std::string text_or(const std::string& text, std::string_view otherwise) {
  return text.empty() ? std::string(otherwise) : text;
}

std::string age_of(const json::Value& object, Time now) {
  return age_since(object["metadata"]["creationTimestamp"], now);
}

Cells service_cells(const json::Value& service, Time now) {
  const json::Value& spec = service["spec"];
  std::vector<std::string> ports;
  for (const json::Value& port : spec["ports"].as_array()) {
    ports.push_back(fmt::format("{}/{}", port["port"].as_int(), port["protocol"].as_string()));
  }
  std::vector<std::string> selector;
  for (const auto& [key, value] : spec["selector"].as_object()) {
    selector.push_back(fmt::format("{}={}", key, value.as_string()));
  }
  return {api::name_of(service),
          spec["type"].as_string(),
          text_or(spec["clusterIP"].as_string(), "<none>"),
          text_or(spec["externalName"].as_string(), "<none>"),
          text_or(join(ports, ","), "<none>"),
          age_of(service, now),
          text_or(join(selector, ","), "<none>")};
}

std::string node_status(const json::Value& node) {
  std::string status = "Unknown";
  for (const json::Value& condition : node["status"]["conditions"].as_array()) {
    if (condition["type"].as_string() != "Ready") continue;
    status = condition["status"].as_string() == "True" ? "Ready" : "NotReady";
  }
  if (node["spec"]["unschedulable"].as_bool()) status += ",SchedulingDisabled";
  return status;
}

std::string node_address(const json::Value& node, std::string_view type) {
  for (const json::Value& address : node["status"]["addresses"].as_array()) {
    if (address["type"].as_string() == type) return address["address"].as_string();
  }
  return "<none>";
}

Cells node_cells(const json::Value& node, Time now) {
  constexpr std::string_view kRole = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  for (const auto& [key, value] : node["metadata"]["labels"].as_object()) {
    if (key.starts_with(kRole)) roles.push_back(key.substr(kRole.size()));
  }
  const json::Value& info = node["status"]["nodeInfo"];
  return {api::name_of(node),
          node_status(node),
          text_or(join(roles, ","), "<none>"),
          age_of(node, now),
          info["kubeletVersion"].as_string(),
          node_address(node, "InternalIP"),
          node_address(node, "ExternalIP"),
          text_or(info["osImage"].as_string(), "<unknown>"),
          text_or(info["kernelVersion"].as_string(), "<unknown>"),
          text_or(info["containerRuntimeVersion"].as_string(), "<unknown>")};
}

Cells event_cells(const json::Value& event, Time now) {
  const json::Value& last =
      !event["series"]["lastObservedTime"].is_null() ? event["series"]["lastObservedTime"]
      : !event["lastTimestamp"].is_null()            ? event["lastTimestamp"]
      : !event["eventTime"].is_null()                ? event["eventTime"]
                                                     : event["metadata"]["creationTimestamp"];
  const json::Value& first =
      !event["firstTimestamp"].is_null() ? event["firstTimestamp"] : event["eventTime"];
  const json::Value& about = event["involvedObject"];
  return {
      age_since(last, now),
      event["type"].as_string(),
      event["reason"].as_string(),
      fmt::format("{}/{}", to_lower(about["kind"].as_string()), about["name"].as_string()),
      std::string(trim(event["message"].as_string())),
      about["fieldPath"].as_string(),
      text_or(event["source"]["component"].as_string(), event["reportingComponent"].as_string()),
      age_since(first, now),
      std::max<std::int64_t>(event["count"].as_int(), 1),
      api::name_of(event)};
}

std::string shown(const json::Value& value, const std::string& type, Time now) {
  if (value.is_null()) return "";
  if (type == "date") return age_since(value, now);
  return value.is_string() ? value.as_string() : json::write(value);
}

Cells job_cells(const Kind& kind, const json::Value& job, Time now) {
  Cells cells{api::name_of(job)};
  for (const auto& column : kind.dialect->identity().columns) {
    if (column.path.empty()) {
      cells.emplace_back(kind.dialect->cell(job, column.name, now));
      continue;
    }
    const json::Value& value = at_json_path(job, column.path);
    if (column.type == "integer" && value.is_number()) {
      cells.push_back(value);
    } else {
      cells.emplace_back(shown(value, column.type, now));
    }
  }
  cells.emplace_back(age_of(job, now));
  return cells;
}

// One step in brackets: a number, the last ones, or the first that a condition fits.
const json::Value& in_brackets(const json::Value& list, std::string_view inside) {
  const json::Array& items = list.as_array();
  if (items.empty()) return null_value();
  if (inside == "-1:" || inside == "-1") return items.back();
  if (const auto index = parse_int(inside)) {
    return *index >= 0 && static_cast<std::size_t>(*index) < items.size()
               ? items[static_cast<std::size_t>(*index)]
               : null_value();
  }
  const auto equals = inside.find("==");
  if (!inside.starts_with("?(@.") || !inside.ends_with(')') || equals == std::string_view::npos) {
    return null_value();
  }
  const std::string_view field = trim(inside.substr(4, equals - 4));
  std::string_view wanted = trim(inside.substr(equals + 2, inside.size() - equals - 3));
  if (wanted.size() >= 2) wanted = wanted.substr(1, wanted.size() - 2);
  for (const json::Value& item : items) {
    if (item.at_path(field).as_string() == wanted) return item;
  }
  return null_value();
}

}  // namespace

const json::Value& at_json_path(const json::Value& root, std::string_view path) {
  const json::Value* at = &root;
  while (!path.empty()) {
    if (path[0] == '[') {
      const auto end = path.find(']');
      if (end == std::string_view::npos) return null_value();
      at = &in_brackets(*at, path.substr(1, end - 1));
      path.remove_prefix(end + 1);
      continue;
    }
    if (path[0] == '.') path.remove_prefix(1);
    const auto end = path.find_first_of(".[");
    at = &(*at)[path.substr(0, end)];
    path.remove_prefix(end == std::string_view::npos ? path.size() : end);
  }
  return *at;
}

std::vector<Column> columns_of(const Kind& kind) {
  const Column name{.name = "Name", .format = "name"};
  const Column age{.name = "Age"};
  const auto wide = [](std::string title) {
    return Column{.name = std::move(title), .priority = 1};
  };
  if (kind.is(api::pods())) {
    return {name,       {.name = "Ready"}, {.name = "Status"},     {.name = "Restarts"},   age,
            wide("IP"), wide("Node"),      wide("Nominated Node"), wide("Readiness Gates")};
  }
  if (kind.is(api::services())) {
    return {name,
            {.name = "Type"},
            {.name = "Cluster-IP"},
            {.name = "External-IP"},
            {.name = "Port(s)"},
            age,
            wide("Selector")};
  }
  if (kind.is(api::nodes())) {
    return {name,
            {.name = "Status"},
            {.name = "Roles"},
            age,
            {.name = "Version"},
            wide("Internal-IP"),
            wide("External-IP"),
            wide("OS-Image"),
            wide("Kernel-Version"),
            wide("Container-Runtime")};
  }
  if (kind.is(api::events())) {
    Column last_name = name;
    last_name.priority = 1;
    return {{.name = "Last Seen"}, {.name = "Type"},    {.name = "Reason"}, {.name = "Object"},
            {.name = "Message"},   wide("Subobject"),   wide("Source"),     wide("First Seen"),
            wide("Count"),         std::move(last_name)};
  }
  if (kind.is(api::namespaces())) return {name, {.name = "Status"}, age};
  if (kind.is(api::secrets()))
    return {name, {.name = "Type"}, {.name = "Data", .type = "integer"}, age};
  if (kind.is(api::config_maps())) return {name, {.name = "Data", .type = "integer"}, age};
  if (kind.is(api::leases())) return {name, {.name = "Holder"}, age};
  if (is_volume_kind(kind)) return volume_columns(kind);
  std::vector<Column> columns{name};
  if (kind.dialect != nullptr) {
    for (const auto& column : kind.dialect->identity().columns) {
      columns.push_back({.name = column.name, .type = column.type, .priority = column.priority});
    }
  }
  columns.push_back(age);
  return columns;
}

std::vector<json::Value> cells_of(const Kind& kind, const json::Value& object, Time now) {
  const std::string& name = api::name_of(object);
  if (kind.is(api::pods())) return pod_cells(object, now);
  if (kind.is(api::services())) return service_cells(object, now);
  if (kind.is(api::nodes())) return node_cells(object, now);
  if (kind.is(api::events())) return event_cells(object, now);
  if (kind.dialect != nullptr) return job_cells(kind, object, now);
  const std::string age = age_of(object, now);
  const auto count = static_cast<std::int64_t>(object["data"].as_object().size());
  if (kind.is(api::namespaces())) return {name, object["status"]["phase"].as_string(), age};
  if (kind.is(api::secrets())) return {name, object["type"].as_string(), count, age};
  if (kind.is(api::config_maps())) return {name, count, age};
  if (kind.is(api::leases())) return {name, object["spec"]["holderIdentity"].as_string(), age};
  if (is_volume_kind(kind)) return volume_cells(kind, object, age);
  return {name, age};
}

json::Value empty_table(const Kind& kind, bool with_columns) {
  json::Value table;
  table["kind"] = "Table";
  table["apiVersion"] = "meta.k8s.io/v1";
  table["metadata"] = json::Object();
  json::Array definitions;
  if (with_columns) {
    for (Column& column : columns_of(kind)) {
      definitions.emplace_back(json::Object{{"name", column.name},
                                            {"type", column.type},
                                            {"format", column.format},
                                            {"description", ""},
                                            {"priority", column.priority}});
    }
  }
  table["columnDefinitions"] = std::move(definitions);
  table["rows"] = json::Array();
  return table;
}

json::Value row_of(const Kind& kind, const json::Value& object, IncludeObject include, Time now) {
  json::Value row;
  row["cells"] = cells_of(kind, object, now);
  if (include == IncludeObject::Object) {
    row["object"] = object;
  } else if (include == IncludeObject::Metadata) {
    row["object"] = json::Object{{"kind", "PartialObjectMetadata"},
                                 {"apiVersion", "meta.k8s.io/v1"},
                                 {"metadata", object["metadata"]}};
  } else {
    row["object"] = nullptr;
  }
  return row;
}

}  // namespace muster::server
