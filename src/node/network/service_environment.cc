#include "node/network/service_environment.h"

#include <fmt/format.h>

#include "api/object.h"
#include "node/network/endpoints.h"

namespace muster::node {

namespace {

std::string variable_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '-' || c == '.') {
      out += '_';
    } else {
      out += (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
    }
  }
  return out;
}

std::string protocol_of(const json::Value& port) {
  const auto& protocol = port["protocol"].as_string();
  return protocol.empty() ? "TCP" : protocol;
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string bracketed(const std::string& ip) {
  return ip.contains(':') ? "[" + ip + "]" : ip;
}

void add_service(std::map<std::string, std::string>& out, const json::Value& service) {
  const auto& ip = service["spec"]["clusterIP"].as_string();
  const auto& ports = service["spec"]["ports"].as_array();
  if (ports.empty()) return;
  const auto prefix = variable_name(api::name_of(service));
  const auto url = [&ip](const json::Value& port) {
    return fmt::format("{}://{}:{}", lower(protocol_of(port)), bracketed(ip),
                       port["port"].as_int());
  };
  out[prefix + "_SERVICE_HOST"] = ip;
  out[prefix + "_SERVICE_PORT"] = fmt::format("{}", ports.front()["port"].as_int());
  out[prefix + "_PORT"] = url(ports.front());
  for (const auto& port : ports) {
    const auto& name = port["name"].as_string();
    const auto number = fmt::format("{}", port["port"].as_int());
    if (!name.empty()) out[prefix + "_SERVICE_PORT_" + variable_name(name)] = number;
    const auto link = fmt::format("{}_PORT_{}_{}", prefix, number, protocol_of(port));
    out[link] = url(port);
    out[link + "_PROTO"] = lower(protocol_of(port));
    out[link + "_PORT"] = number;
    out[link + "_ADDR"] = ip;
  }
}

}  // namespace

std::vector<api::ObjectPtr> services_of_host(std::vector<api::ObjectPtr> services,
                                             const NodeOptions::Endpoint& api) {
  for (auto& service : services) {
    if (!is_api_service(*service)) continue;
    json::Value moved = *service;
    moved["spec"]["clusterIP"] = api.address;
    for (auto& port : moved["spec"]["ports"].array()) port["port"] = static_cast<int>(api.port);
    service = std::make_shared<const json::Value>(std::move(moved));
  }
  return services;
}

std::map<std::string, std::string> service_environment(const std::vector<api::ObjectPtr>& services,
                                                       std::string_view ns, bool links_enabled) {
  std::map<std::string, std::string> out;
  const json::Value* master = nullptr;
  for (const auto& service : services) {
    const auto& ip = (*service)["spec"]["clusterIP"].as_string();
    if (ip.empty() || ip == "None") continue;
    const auto key = api::key_of(*service);
    if (is_api_service(*service)) master = service.get();
    if (links_enabled && key.ns == ns) add_service(out, *service);
  }
  // A service of the same name in the pod's own namespace counts more than the master's.
  if (master != nullptr && !out.contains("KUBERNETES_SERVICE_HOST")) add_service(out, *master);
  return out;
}

}  // namespace muster::node
