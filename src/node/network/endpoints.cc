#include "node/network/endpoints.h"

#include <algorithm>
#include <optional>

#include "api/object.h"
#include "api/pod.h"

namespace muster::node {

namespace {

std::optional<std::uint16_t> port_number(std::int64_t value) {
  if (value < 1 || value > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(value);
}

// A port by its number, or by the name that a container of the pod gives it.
std::optional<std::uint16_t> target_port(const json::Value& port, const json::Value& pod) {
  const auto& target = port["targetPort"];
  if (target.is_int() && target.as_int() != 0) return port_number(target.as_int());
  if (!target.is_string() || target.as_string().empty()) return port_number(port["port"].as_int());
  for (const auto& container : pod["spec"]["containers"].as_array()) {
    for (const auto& candidate : container["ports"].as_array()) {
      if (candidate["name"].as_string() == target.as_string()) {
        return port_number(candidate["containerPort"].as_int());
      }
    }
  }
  return std::nullopt;
}

// Names of namespaces and values of labels hold no newline.
void add_part(std::string& group, std::string_view part) {
  group += part;
  group += '\n';
}

}  // namespace

SelectablePods::ByValues SelectablePods::grouped_by(const Keys& keys) const {
  ByValues groups;
  for (const auto& pod : pods_) {
    const auto& labels = (*pod.pod)["metadata"]["labels"].as_object();
    std::string group;
    add_part(group, api::namespace_of(*pod.pod));
    const bool has_all = std::ranges::all_of(keys, [&](const std::string& key) {
      const auto* label = labels.find(key);
      if (label != nullptr) add_part(group, label->as_string());
      return label != nullptr;
    });
    if (has_all) groups[std::move(group)].push_back(pod);
  }
  return groups;
}

const std::vector<Peer>& SelectablePods::selected_by(const json::Value& service) {
  const auto& selector = service["spec"]["selector"].as_object();
  if (selector.empty()) return none_;
  Keys keys;
  std::string group;
  add_part(group, api::namespace_of(service));
  for (const auto& [key, value] : selector) {
    keys.push_back(key);
    add_part(group, value.as_string());
  }
  auto known = by_keys_.find(keys);
  if (known == by_keys_.end()) known = by_keys_.emplace(keys, grouped_by(keys)).first;
  const auto chosen = known->second.find(group);
  return chosen == known->second.end() ? none_ : chosen->second;
}

bool serves(const json::Value& service, const Peer& pod) {
  if (pod.reach.address.empty() || pod.reach.finished) return false;
  return service["spec"]["publishNotReadyAddresses"].as_bool() ||
         (pod.reach.ready && !api::is_deleting(*pod.pod));
}

bool is_api_service(const json::Value& service) {
  return api::namespace_of(service) == "default" && api::name_of(service) == "kubernetes";
}

std::vector<ServiceRule> service_rules(const std::vector<api::ObjectPtr>& services,
                                       const std::vector<Peer>& pods,
                                       const std::optional<NodeOptions::Endpoint>& api) {
  std::vector<ServiceRule> out;
  SelectablePods selectable(pods);
  for (const auto& service : services) {
    const auto& spec = (*service)["spec"];
    const auto& ip = spec["clusterIP"].as_string();
    const bool leads_to_api = api && is_api_service(*service);
    // Without a selector the endpoints are somebody else's business.
    const bool ours = leads_to_api || !spec["selector"].as_object().empty();
    if (ip.empty() || ip == "None" || !ours) continue;
    const auto& chosen = selectable.selected_by(*service);
    for (const auto& port : spec["ports"].as_array()) {
      const auto number = port_number(port["port"].as_int());
      const auto& protocol = port["protocol"].as_string();
      if (!number || (protocol != "TCP" && protocol != "UDP" && !protocol.empty())) continue;
      ServiceRule rule{
          .protocol = protocol == "UDP" ? ServiceRule::Protocol::Udp : ServiceRule::Protocol::Tcp,
          .cluster_ip = ip,
          .port = *number};
      if (leads_to_api) rule.endpoints.push_back({.address = api->address, .port = api->port});
      for (const auto& pod : chosen) {
        const auto target = target_port(port, *pod.pod);
        if (!target || !serves(*service, pod)) continue;
        rule.endpoints.push_back({.address = pod.reach.address, .port = *target});
      }
      out.push_back(std::move(rule));
    }
  }
  return out;
}

}  // namespace muster::node
