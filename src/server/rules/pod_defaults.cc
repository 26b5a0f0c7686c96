#include "server/rules/pod_defaults.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "api/quantity.h"

namespace muster::server {
namespace {

void set_if_absent(json::Object& object, std::string_view key, json::Value value) {
  json::Value& member = object[key];
  if (member.is_null()) member = std::move(value);
}

// Always only for the tag latest, or none; a digest is exact.
std::string_view pull_policy(std::string_view image) {
  if (image.contains('@')) return "IfNotPresent";
  const std::string_view last =
      image.substr(image.rfind('/') == std::string_view::npos ? 0 : image.rfind('/') + 1);
  const auto colon = last.rfind(':');
  const bool latest = colon == std::string_view::npos || last.substr(colon + 1) == "latest";
  return latest ? "Always" : "IfNotPresent";
}

void default_probe(json::Value& probe) {
  if (!probe.is_object()) return;
  json::Object& object = probe.object();
  set_if_absent(object, "timeoutSeconds", 1);
  set_if_absent(object, "periodSeconds", 10);
  set_if_absent(object, "successThreshold", 1);
  set_if_absent(object, "failureThreshold", 3);
  if (json::Value* http = object.find("httpGet"); http != nullptr && http->is_object()) {
    set_if_absent(http->object(), "scheme", "HTTP");
    set_if_absent(http->object(), "path", "/");
  }
}

// Limits stand in for requests that are not given.
void default_requests(json::Object& container) {
  json::Value& resources = container["resources"];
  if (resources.is_null()) resources = json::Object();
  if (!resources.is_object() || !resources.at_path("limits").is_object()) return;
  const json::Object limits = resources.at_path("limits").as_object();
  json::Value& requests = resources["requests"];
  if (!requests.is_null() && !requests.is_object()) return;
  for (const auto& [name, quantity] : limits) set_if_absent(requests.object(), name, quantity);
  if (requests.as_object().empty()) resources.object().erase("requests");
}

void default_container(json::Value& value) {
  if (!value.is_object()) return;
  json::Object& container = value.object();
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    if (json::Value* found = container.find(probe)) default_probe(*found);
  }
  if (json::Value* ports = container.find("ports"); ports != nullptr && ports->is_array()) {
    for (json::Value& port : ports->array()) {
      if (port.is_object()) set_if_absent(port.object(), "protocol", "TCP");
    }
  }
  if (json::Value* env = container.find("env"); env != nullptr && env->is_array()) {
    for (json::Value& variable : env->array()) {
      json::Value* from = variable.is_object() ? variable.object().find("valueFrom") : nullptr;
      json::Value* field =
          from != nullptr && from->is_object() ? from->object().find("fieldRef") : nullptr;
      if (field != nullptr && field->is_object())
        set_if_absent(field->object(), "apiVersion", "v1");
    }
  }
  default_requests(container);
  set_if_absent(container, "terminationMessagePath", "/dev/termination-log");
  set_if_absent(container, "terminationMessagePolicy", "File");
  const json::Value* image = container.find("image");
  set_if_absent(container, "imagePullPolicy",
                pull_policy(image == nullptr ? std::string_view() : image->as_string()));
}

// In the host's network a container's ports are the host's.
void default_host_ports(json::Value& containers) {
  for (json::Value& container : containers.array()) {
    if (!container.is_object()) continue;
    json::Value* ports = container.object().find("ports");
    if (ports == nullptr || !ports->is_array()) continue;
    for (json::Value& port : ports->array()) {
      if (port.is_object() && port.object().contains("containerPort"))
        set_if_absent(port.object(), "hostPort", *port.object().find("containerPort"));
    }
  }
}

void default_volume(json::Value& volume) {
  if (!volume.is_object()) return;
  json::Object& object = volume.object();
  if (object.size() == 1 && object.contains("name")) object.set("emptyDir", json::Object());
  for (const char* source : {"configMap", "secret", "projected", "downwardAPI"}) {
    json::Value* found = object.find(source);
    if (found != nullptr && found->is_object()) set_if_absent(found->object(), "defaultMode", 420);
  }
  if (json::Value* host = object.find("hostPath"); host != nullptr && host->is_object()) {
    set_if_absent(host->object(), "type", "");
  }
  json::Value* projected = object.find("projected");
  if (projected == nullptr || !projected->is_object()) return;
  json::Value* sources = projected->object().find("sources");
  if (sources == nullptr || !sources->is_array()) return;
  for (json::Value& source : sources->array()) {
    json::Value* token = source.is_object() ? source.object().find("serviceAccountToken") : nullptr;
    if (token != nullptr && token->is_object())
      set_if_absent(token->object(), "expirationSeconds", 3600);
  }
}

// The two tolerations that admission adds unless the pod already tolerates the taint in some way.
void default_tolerations(json::Object& spec) {
  json::Value& tolerations = spec["tolerations"];
  if (!tolerations.is_null() && !tolerations.is_array()) return;
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const bool present = std::ranges::any_of(tolerations.as_array(), [&](const json::Value& each) {
      const std::string& effect = each["effect"].as_string();
      return (each["key"].as_string() == key || each["key"].as_string().empty()) &&
             (effect.empty() || effect == "NoExecute");
    });
    if (present) continue;
    tolerations.array().push_back(json::Object{
        {"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
  }
}

void default_spec(json::Value& value) {
  if (value.is_null()) value = json::Object();
  if (!value.is_object()) return;
  json::Object& spec = value.object();
  for (const char* list : {"initContainers", "containers"}) {
    json::Value* containers = spec.find(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (json::Value& container : containers->array()) default_container(container);
    const json::Value* host_network = spec.find("hostNetwork");
    if (host_network != nullptr && host_network->as_bool()) default_host_ports(*containers);
  }
  if (json::Value* volumes = spec.find("volumes"); volumes != nullptr && volumes->is_array()) {
    for (json::Value& volume : volumes->array()) default_volume(volume);
  }
  set_if_absent(spec, "restartPolicy", "Always");
  set_if_absent(spec, "terminationGracePeriodSeconds", 30);
  set_if_absent(spec, "dnsPolicy", "ClusterFirst");
  const json::Value* old_name = spec.find("serviceAccount");
  set_if_absent(
      spec, "serviceAccountName",
      old_name != nullptr && !old_name->as_string().empty() ? *old_name : json::Value("default"));
  if (spec.find("serviceAccountName")->as_string().empty())
    spec.set("serviceAccountName", "default");
  spec.set("serviceAccount", *spec.find("serviceAccountName"));
  set_if_absent(spec, "securityContext", json::Object());
  set_if_absent(spec, "schedulerName", "default-scheduler");
  default_tolerations(spec);
  set_if_absent(spec, "priority", 0);
  set_if_absent(spec, "preemptionPolicy", "PreemptLowerPriority");
  set_if_absent(spec, "enableServiceLinks", true);
}

}  // namespace

void default_pod_spec(json::Value& spec) {
  default_spec(spec);
}

void default_pod(json::Value& pod) {
  default_spec(pod["spec"]);
  pod["status"] =
      json::Object{{"phase", "Pending"}, {"qosClass", quality_of_service(pod.at_path("spec"))}};
  if (std::as_const(pod)["spec"]["schedulingGates"].as_array().empty()) return;
  pod["status"]["conditions"] = json::Array{
      json::Object{{"type", "PodScheduled"},
                   {"status", "False"},
                   {"reason", "SchedulingGated"},
                   {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
}

std::string_view quality_of_service(const json::Value& spec) {
  constexpr std::array kCounted = {"cpu", "memory"};
  bool any = false;
  bool guaranteed = true;
  for (const char* list : {"initContainers", "containers"}) {
    for (const json::Value& container : spec[list].as_array()) {
      const json::Value& resources = container["resources"];
      for (const char* name : kCounted) {
        const auto limit = api::Quantity::from(resources["limits"][name]);
        const auto request = api::Quantity::from(resources["requests"][name]);
        any = any || (limit && limit->milli() > 0) || (request && request->milli() > 0);
        if (!limit || limit->milli() == 0 || (request && *request != *limit)) guaranteed = false;
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace muster::server
