#include "server/rules/service_rules.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "api/names.h"
#include "api/object.h"

namespace muster::server {
namespace {

bool needs_address(const json::Value& service) {
  return service["spec"]["type"].as_string() != "ExternalName" &&
         service["spec"]["clusterIP"].as_string() != "None";
}

void check_port(const json::Value& port, const std::string& at, bool named, Causes& causes) {
  constexpr std::string_view kRange = "must be between 1 and 65535, inclusive";
  const auto in_range = [](const json::Value& value) {
    return value.is_int() && value.as_int() >= 1 && value.as_int() <= 65'535;
  };
  if (!in_range(port["port"])) causes.invalid(at + ".port", port["port"], kRange);
  const json::Value& target = port["targetPort"];
  if (target.is_string()) {
    if (const auto why = api::check_port_name(target.as_string())) {
      causes.invalid(at + ".targetPort", target, *why);
    }
  } else if (!in_range(target)) {
    causes.invalid(at + ".targetPort", target, kRange);
  }
  const std::string& protocol = port["protocol"].as_string();
  if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
    causes.unsupported(at + ".protocol", port["protocol"], {"SCTP", "TCP", "UDP"});
  }
  const std::string& name = port["name"].as_string();
  if (name.empty()) {
    if (named) causes.required(at + ".name");
  } else if (const auto why = api::check_dns_label(name)) {
    causes.invalid(at + ".name", name, *why);
  }
}

}  // namespace

void default_service(json::Value& service) {
  json::Value& spec = service["spec"];
  if (!spec.is_null() && !spec.is_object()) return;
  json::Object& object = spec.object();
  const auto set_if_absent = [&object](std::string_view key, json::Value value) {
    json::Value& member = object[key];
    if (member.is_null()) member = std::move(value);
  };
  set_if_absent("type", "ClusterIP");
  set_if_absent("sessionAffinity", "None");
  if (object.find("type")->as_string() != "ExternalName") {
    set_if_absent("ipFamilies", json::Array{"IPv4"});
    set_if_absent("ipFamilyPolicy", "SingleStack");
    set_if_absent("internalTrafficPolicy", "Cluster");
  }
  if (json::Value* ports = object.find("ports"); ports != nullptr && ports->is_array()) {
    for (json::Value& port : ports->array()) {
      if (!port.is_object()) continue;
      if (port.at_path("protocol").is_null()) port["protocol"] = "TCP";
      const json::Value& target = port.at_path("targetPort");
      const bool absent = target.is_null() || (target.is_int() && target.as_int() == 0) ||
                          (target.is_string() && target.as_string().empty());
      if (absent) port["targetPort"] = json::Value(port.at_path("port"));
    }
  }
  if (object.contains("clusterIPs") && !object.contains("clusterIP")) {
    object.set("clusterIP", json::Value(std::as_const(*object.find("clusterIPs"))[0].as_string()));
  }
}

void check_service(const json::Value& service, Causes& causes) {
  const json::Value& spec = service["spec"];
  if (!spec.is_object()) {
    causes.invalid("spec", spec, "must be an object");
    return;
  }
  static const std::vector<std::string> types = {"ClusterIP", "ExternalName", "LoadBalancer",
                                                 "NodePort"};
  const std::string& type = spec["type"].as_string();
  if (std::ranges::find(types, type) == types.end())
    causes.unsupported("spec.type", spec["type"], types);
  const json::Array& ports = spec["ports"].as_array();
  if (ports.empty() && needs_address(service)) causes.required("spec.ports");
  std::set<std::string> names;
  std::set<std::string> endpoints;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string at = fmt::format("spec.ports[{}]", i);
    check_port(ports[i], at, ports.size() > 1, causes);
    const std::string& name = ports[i]["name"].as_string();
    if (!name.empty() && !names.insert(name).second) causes.duplicate(at + ".name", name);
    const std::string endpoint =
        fmt::format("{}/{}", ports[i]["port"].as_int(), ports[i]["protocol"].as_string());
    if (!endpoints.insert(endpoint).second) causes.duplicate(at, endpoint);
  }
  for (const auto& [key, value] : spec["selector"].as_object()) {
    if (const auto why = api::check_label_key(key)) causes.invalid("spec.selector", key, *why);
    if (const auto why = api::check_label_value(value.as_string())) {
      causes.invalid("spec.selector", value, *why);
    }
  }
  if (type == "ExternalName" && spec["externalName"].as_string().empty()) {
    causes.required("spec.externalName");
  }
}

void keep_service_address(const json::Value& old, json::Value& service) {
  if (!service.at_path("spec").is_object()) return;
  for (const char* field : {"clusterIP", "clusterIPs"}) {
    const json::Value& before = old["spec"][field];
    json::Value& now = service["spec"][field];
    if (now.is_null() || (now.is_string() && now.as_string().empty())) now = before;
    if (now.is_null()) service["spec"].object().erase(field);
  }
}

void check_service_update(const json::Value& old, const json::Value& service, Causes& causes) {
  const json::Value& before = old["spec"]["clusterIP"];
  const json::Value& now = service["spec"]["clusterIP"];
  if (before.as_string().empty() || before == now) return;
  causes.invalid("spec.clusterIP", now, "field is immutable");
}

void assign_address(json::Value& service, Addresses& addresses, Causes& causes) {
  if (!needs_address(std::as_const(service))) {
    if (service.at_path("spec.clusterIP").as_string() == "None") {
      service["spec"]["clusterIPs"] = json::Array{"None"};
    }
    return;
  }
  const std::string wanted = service.at_path("spec.clusterIP").as_string();
  std::optional<std::string> address;
  if (wanted.empty()) {
    address = addresses.take_next();
    if (!address) {
      causes.invalid("spec.clusterIP", "", "the range of service addresses is used up");
      return;
    }
  } else if (!addresses.contains(wanted)) {
    causes.invalid("spec.clusterIP", wanted,
                   "the provided IP is not in the range of service addresses");
    return;
  } else if (!addresses.take(wanted)) {
    causes.invalid("spec.clusterIP", wanted, "provided IP is already allocated");
    return;
  } else {
    address = wanted;
  }
  service["spec"]["clusterIP"] = *address;
  service["spec"]["clusterIPs"] = json::Array{*address};
}

void release_address(const json::Value& service, Addresses& addresses) {
  if (needs_address(service)) addresses.release(service["spec"]["clusterIP"].as_string());
}

}  // namespace muster::server
