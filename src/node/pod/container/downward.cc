#include "node/pod/container/downward.h"

#include <map>

#include <fmt/format.h>

#include "api/object.h"
#include "api/quantity.h"
#include "json/write.h"

namespace muster::node {

namespace {

// key="value" lines; the value quoted with escapes.
std::string lines_of(const json::Value& map) {
  std::map<std::string, std::string> sorted;
  for (const auto& [key, value] : map.as_object()) sorted[key] = value.as_string();
  std::string out;
  for (const auto& [key, value] : sorted) {
    if (!out.empty()) out += '\n';
    out += key;
    out += '=';
    json::write_string(out, value);
  }
  return out;
}

// metadata.labels['x'] → the map and x; nothing when the path has no subscript.
struct Subscript {
  std::string_view path;
  std::string_view key;
};
std::optional<Subscript> subscript_of(std::string_view path) {
  const auto open = path.find("['");
  if (open == std::string_view::npos || !path.ends_with("']")) return std::nullopt;
  return Subscript{.path = path.substr(0, open),
                   .key = path.substr(open + 2, path.size() - open - 4)};
}

const json::Value* find_container(const json::Value& pod, std::string_view name) {
  if (const auto* found = api::find_named(pod["spec"]["containers"], name)) return found;
  return api::find_named(pod["spec"]["initContainers"], name);
}

struct Amount {
  api::Quantity quantity;
  bool set = false;
};
Result<Amount> amount_at(const json::Value& map, std::string_view resource) {
  const auto* value = map.as_object().find(resource);
  if (value == nullptr) return Amount{};
  return Amount{.quantity = TRY(api::Quantity::from(*value)), .set = true};
}

api::Quantity allocatable(std::string_view resource, const Place& place) {
  if (resource == "memory") return api::Quantity::of(place.allocatable_memory_bytes);
  if (resource != "cpu") return {};
  const auto parsed = api::Quantity::parse(fmt::format("{}m", place.allocatable_cpu_milli));
  return parsed ? *parsed : api::Quantity();
}

}  // namespace

Result<std::string> field_value(const json::Value& pod, std::string_view path, const Place& place) {
  if (const auto subscript = subscript_of(path)) {
    const std::string key(subscript->key);
    if (subscript->path == "metadata.labels") return api::label_of(pod, key);
    if (subscript->path == "metadata.annotations") return api::annotation_of(pod, key);
  }
  if (path == "metadata.name") return api::name_of(pod);
  if (path == "metadata.namespace") return api::namespace_of(pod);
  if (path == "metadata.uid") return api::uid_of(pod);
  if (path == "metadata.labels") return lines_of(pod["metadata"]["labels"]);
  if (path == "metadata.annotations") return lines_of(pod["metadata"]["annotations"]);
  if (path == "spec.nodeName") return place.node_name;
  if (path == "spec.serviceAccountName") return pod["spec"]["serviceAccountName"].as_string();
  if (path == "status.podIP" || path == "status.podIPs") return place.pod_ip;
  if (path == "status.hostIP" || path == "status.hostIPs") return place.host_ip;
  return fail(ErrorCode::Invalid, fmt::format("unsupported fieldPath: {}", path));
}

Result<std::string> resource_field_value(const json::Value& pod, const json::Value& reference,
                                         std::string_view own_container, const Place& place) {
  const std::string_view path = reference["resource"].as_string();
  const auto dot = path.find('.');
  const auto kind = path.substr(0, dot);
  if (dot == std::string_view::npos || (kind != "limits" && kind != "requests")) {
    return fail(ErrorCode::Invalid, fmt::format("unsupported resource: {}", path));
  }
  const auto resource = path.substr(dot + 1);
  const auto& named = reference["containerName"].as_string();
  const auto* container =
      find_container(pod, named.empty() ? own_container : std::string_view(named));
  if (container == nullptr) {
    return fail(ErrorCode::Invalid, fmt::format("container {} not found", named));
  }
  const auto& resources = (*container)["resources"];
  const auto limit = TRY(amount_at(resources["limits"], resource));
  auto amount = limit;
  if (kind == "requests") {
    const auto request = TRY(amount_at(resources["requests"], resource));
    if (request.set) amount = request;
  } else if (!limit.set) {
    amount.quantity = allocatable(resource, place);
  }

  api::Quantity divisor = api::Quantity::of(1);
  if (!reference["divisor"].is_null()) {
    const auto given = TRY(api::Quantity::from(reference["divisor"]));
    if (given > api::Quantity()) divisor = given;
  }
  const auto value = amount.quantity.milli();
  const auto by = divisor.milli();
  return fmt::format("{}", value / by + (value % by > 0 ? 1 : 0));
}

}  // namespace muster::node
