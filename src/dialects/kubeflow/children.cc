#include "dialects/kubeflow/children.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::dialects::kubeflow {
namespace {

constexpr std::string_view kOperatorName = "training.kubeflow.org/operator-name";
constexpr std::string_view kJobName = "training.kubeflow.org/job-name";
constexpr std::string_view kReplicaType = "training.kubeflow.org/replica-type";
constexpr std::string_view kReplicaIndex = "training.kubeflow.org/replica-index";

// One Service port for each port of the container. Several ports need names, and no two may have
// the same number and protocol.
json::Array all_ports(const json::Array& ports) {
  json::Array out;
  std::set<std::pair<std::int64_t, std::string>> seen;
  for (const auto& port : ports) {
    const auto number = port["containerPort"].as_int();
    const auto& protocol = port["protocol"].as_string();
    if (!seen.emplace(number, protocol.empty() ? "TCP" : protocol).second) continue;
    const auto& name = port["name"].as_string();
    json::Object entry{{"name", name.empty() ? fmt::format("port-{}", number) : name},
                       {"port", number}};
    if (!protocol.empty()) entry.set("protocol", protocol);
    out.emplace_back(std::move(entry));
  }
  return out;
}

json::Array service_ports(const Job& job, const RoleSpec& role, const json::Value& pod) {
  if (job.kind->services.job_port_only) {
    return {json::Object{{"name", job.kind->container.port.name}, {"port", job.port(role)}}};
  }
  return all_ports(pod["spec"]["containers"][job.main_container(role)]["ports"].as_array());
}

// The text for rank 0, of labels.
std::string text_of_first(const plan::Value& value) {
  std::string text;
  for (const plan::Part& part : value) {
    if (const auto* ordinal = std::get_if<plan::Ordinal>(&part)) {
      text += fmt::to_string(ordinal->base);
    } else {
      text += std::get<std::string>(part);
    }
  }
  return text;
}

}  // namespace

Labels family_labels(const Job& job, const RoleSpec& role, std::string_view controller) {
  return {{std::string(kOperatorName), {std::string(controller)}},
          {std::string(kJobName), {job.ref.name}},
          {std::string(kReplicaType), {to_lower(role.name)}},
          {std::string(kReplicaIndex), {plan::Ordinal{}}}};
}

std::string scale_selector(const Job& job) {
  return fmt::format("{}={},{}={}", kJobName, job.ref.name, kReplicaType,
                     to_lower(job.kind->scales));
}

plan::Object make_service(const Job& job, const RoleSpec& role, const Labels& labels,
                          const json::Value& pod) {
  const Services& services = job.kind->services;
  const bool each = services.role.empty();
  plan::Object out{.id = {.resource = api::services()}};
  json::Object known;
  for (const auto& [key, value] : labels) {
    if (!each || is_plain(value)) {
      known.set(key, text_of_first(value));
      continue;
    }
    out.values.push_back({.path = {"metadata", "labels", key}, .value = value});
    out.values.push_back({.path = {"spec", "selector", key}, .value = value});
  }
  json::Object spec{{"selector", known}, {"ports", service_ports(job, role, pod)}};
  if (services.address == Services::Address::Headless) {
    spec.set("clusterIP", "None");
  } else {
    spec.set("type", "ClusterIP");
  }
  json::Object metadata{{"labels", known}};
  if (each) {
    out.each_rank_of = role.name;
  } else {
    out.id.name = job.pod_name(role.name, 0);
    metadata.set("name", out.id.name);
  }
  out.body = json::Object{{"apiVersion", "v1"},
                          {"kind", "Service"},
                          {"metadata", std::move(metadata)},
                          {"spec", std::move(spec)}};
  return out;
}

}  // namespace muster::dialects::kubeflow
