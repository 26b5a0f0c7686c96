#include "server/rules/pod_rules.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "api/names.h"
#include "api/object.h"
#include "api/quantity.h"

namespace muster::server {
namespace {

constexpr std::int64_t kLastPort = 65'535;
constexpr std::string_view kPortRange = "must be between 1 and 65535, inclusive";

bool is_port(const json::Value& value) {
  return value.is_int() && value.as_int() >= 1 && value.as_int() <= kLastPort;
}

// Reads a list field; says so when it is something else.
const json::Array& list_at(const json::Value& parent, const char* field, const std::string& at,
                           Causes& causes) {
  const json::Value& list = parent[field];
  if (!list.is_null() && !list.is_array()) {
    causes.invalid(fmt::format("{}.{}", at, field), list, "must be a list");
  }
  return list.as_array();
}

void check_one_of(const json::Value& value, const std::string& at,
                  const std::vector<std::string>& supported, Causes& causes) {
  if (std::ranges::find(supported, value.as_string()) == supported.end()) {
    causes.unsupported(at, value, supported);
  }
}

void check_volumes(const json::Value& spec, std::set<std::string>& names, Causes& causes) {
  const json::Array& volumes = list_at(spec, "volumes", "spec", causes);
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string at = fmt::format("spec.volumes[{}]", i);
    const json::Value& volume = volumes[i];
    const std::string& name = volume["name"].as_string();
    if (name.empty()) {
      causes.required(at + ".name");
    } else if (const auto why = api::check_dns_label(name)) {
      causes.invalid(at + ".name", name, *why);
    } else if (!names.insert(name).second) {
      causes.duplicate(at + ".name", name);
    }
    if (volume.as_object().size() > 2) {
      causes.forbidden(at, "may not specify more than 1 volume type");
    }
    const json::Value& host = volume["hostPath"];
    if (host.is_object() && host["path"].as_string().empty())
      causes.required(at + ".hostPath.path");
    if (host.is_object() && host["path"].as_string().contains("..")) {
      causes.invalid(at + ".hostPath.path", host["path"], "must not contain '..'");
    }
    if (volume["secret"].is_object() && volume["secret"]["secretName"].as_string().empty()) {
      causes.required(at + ".secret.secretName");
    }
    const json::Value& claim = volume["persistentVolumeClaim"];
    if (claim.is_object() && claim["claimName"].as_string().empty()) {
      causes.required(at + ".persistentVolumeClaim.claimName");
    }
    if (volume["configMap"].is_object() && volume["configMap"]["name"].as_string().empty()) {
      causes.required(at + ".configMap.name");
    }
  }
}

void check_ports(const json::Value& container, const std::string& at, Causes& causes) {
  const json::Array& ports = list_at(container, "ports", at, causes);
  std::set<std::string> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string where = fmt::format("{}.ports[{}]", at, i);
    const json::Value& port = ports[i];
    if (port["containerPort"].is_null()) {
      causes.required(where + ".containerPort");
    } else if (!is_port(port["containerPort"])) {
      causes.invalid(where + ".containerPort", port["containerPort"], kPortRange);
    }
    const json::Value& host_port = port["hostPort"];
    if (!host_port.is_null() && host_port.as_int(-1) != 0 && !is_port(host_port)) {
      causes.invalid(where + ".hostPort", host_port, kPortRange);
    }
    check_one_of(port["protocol"], where + ".protocol", {"SCTP", "TCP", "UDP"}, causes);
    const std::string& name = port["name"].as_string();
    if (name.empty()) continue;
    if (const auto why = api::check_port_name(name)) causes.invalid(where + ".name", name, *why);
    if (!names.insert(name).second) causes.duplicate(where + ".name", name);
  }
}

void check_env(const json::Value& container, const std::string& at, Causes& causes) {
  const json::Array& env = list_at(container, "env", at, causes);
  for (std::size_t i = 0; i < env.size(); ++i) {
    const std::string where = fmt::format("{}.env[{}]", at, i);
    const json::Value& variable = env[i];
    const json::Value& value = variable["value"];
    if (variable["name"].as_string().empty()) {
      causes.required(where + ".name");
    } else if (const auto why = api::check_env_name(variable["name"].as_string())) {
      causes.invalid(where + ".name", variable["name"], *why);
    }
    if (!value.is_null() && !value.is_string()) {
      causes.invalid(where + ".value", value, "must be a string; put it in quotes");
    }
    if (value.as_string().contains('\0')) {
      causes.invalid(where + ".value", "…", "must not contain a NUL byte");
    }
    if (variable["valueFrom"].is_object() && !value.as_string().empty()) {
      causes.invalid(where + ".valueFrom", "", "may not be specified when `value` is not empty");
    }
  }
}

void check_mounts(const json::Value& container, const std::string& at,
                  const std::set<std::string>& volumes, Causes& causes) {
  const json::Array& mounts = list_at(container, "volumeMounts", at, causes);
  std::set<std::string> paths;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string where = fmt::format("{}.volumeMounts[{}]", at, i);
    const json::Value& mount = mounts[i];
    if (mount["name"].as_string().empty()) {
      causes.required(where + ".name");
    } else if (!volumes.contains(mount["name"].as_string())) {
      causes.not_found(where + ".name", mount["name"]);
    }
    const std::string& path = mount["mountPath"].as_string();
    if (path.empty()) {
      causes.required(where + ".mountPath");
    } else if (!paths.insert(path).second) {
      causes.invalid(where + ".mountPath", path, "must be unique");
    }
    const std::string& sub_path = mount["subPath"].as_string();
    if (sub_path.starts_with('/'))
      causes.invalid(where + ".subPath", sub_path, "must be a relative path");
    if (sub_path == ".." || sub_path.starts_with("../") || sub_path.contains("/../") ||
        sub_path.ends_with("/..")) {
      causes.invalid(where + ".subPath", sub_path, "must not contain '..'");
    }
  }
}

void check_resources(const json::Value& container, const std::string& at, Causes& causes) {
  const json::Value& resources = container["resources"];
  for (const char* list : {"limits", "requests"}) {
    for (const auto& [name, value] : resources[list].as_object()) {
      const std::string where = fmt::format("{}.resources.{}[{}]", at, list, name);
      const auto quantity = api::Quantity::from(value);
      if (!quantity) {
        causes.invalid(where, value, quantity.error().message);
      } else if (*quantity < api::Quantity()) {
        causes.invalid(where, value, "must be greater than or equal to 0");
      }
    }
  }
  for (const auto& [name, value] : resources["requests"].as_object()) {
    const auto request = api::Quantity::from(value);
    const auto limit = api::Quantity::from(resources["limits"][name]);
    if (request && limit && !resources["limits"][name].is_null() && *limit < *request) {
      causes.invalid(
          fmt::format("{}.resources.requests", at), value,
          fmt::format("must be less than or equal to {} limit of {}", name, limit->text()));
    }
  }
}

void check_strings(const json::Value& container, const char* field, const std::string& at,
                   Causes& causes) {
  const json::Array& list = list_at(container, field, at, causes);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_string()) continue;
    causes.invalid(fmt::format("{}.{}[{}]", at, field, i), list[i],
                   "must be a string; put it in quotes");
  }
}

void check_container(const json::Value& container, const std::string& at,
                     const std::set<std::string>& volumes, std::set<std::string>& names,
                     Causes& causes) {
  const std::string& name = container["name"].as_string();
  if (name.empty()) {
    causes.required(at + ".name");
  } else if (const auto why = api::check_dns_label(name)) {
    causes.invalid(at + ".name", name, *why);
  } else if (!names.insert(name).second) {
    causes.duplicate(at + ".name", name);
  }
  if (container["image"].as_string().empty()) causes.required(at + ".image");
  check_one_of(container["imagePullPolicy"], at + ".imagePullPolicy",
               {"Always", "IfNotPresent", "Never"}, causes);
  check_one_of(container["terminationMessagePolicy"], at + ".terminationMessagePolicy",
               {"FallbackToLogsOnError", "File"}, causes);
  check_strings(container, "command", at, causes);
  check_strings(container, "args", at, causes);
  check_ports(container, at, causes);
  check_env(container, at, causes);
  check_mounts(container, at, volumes, causes);
  check_resources(container, at, causes);
}

// The spec without what may be changed later.
json::Value settled(const json::Value& spec) {
  json::Value copy = spec;
  json::Object& object = copy.object();
  for (const char* field : {"activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations",
                            "schedulingGates"}) {
    object.erase(field);
  }
  for (const char* list : {"containers", "initContainers"}) {
    json::Value* containers = object.find(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (json::Value& container : containers->array()) {
      if (!container.is_object()) continue;
      container.object().erase("image");
      container.object().erase("imagePullPolicy");
    }
  }
  return copy;
}

}  // namespace

void check_pod(const json::Value& pod, Causes& causes) {
  const json::Value& spec = pod["spec"];
  if (!spec.is_object()) {
    causes.invalid("spec", spec, "must be an object");
    return;
  }
  std::set<std::string> volumes;
  std::set<std::string> names;
  check_volumes(spec, volumes, causes);
  if (list_at(spec, "containers", "spec", causes).empty()) causes.required("spec.containers");
  for (const char* list : {"containers", "initContainers"}) {
    const json::Array& containers = spec[list].as_array();
    for (std::size_t i = 0; i < containers.size(); ++i) {
      check_container(containers[i], fmt::format("spec.{}[{}]", list, i), volumes, names, causes);
    }
  }
  check_one_of(spec["restartPolicy"], "spec.restartPolicy", {"Always", "OnFailure", "Never"},
               causes);
  check_one_of(spec["dnsPolicy"], "spec.dnsPolicy",
               {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"}, causes);
  const json::Value& grace = spec["terminationGracePeriodSeconds"];
  if (!grace.is_int() || grace.as_int() < 0) {
    causes.invalid("spec.terminationGracePeriodSeconds", grace,
                   "must be greater than or equal to 0");
  }
  const json::Value& deadline = spec["activeDeadlineSeconds"];
  constexpr std::int64_t kLongestDeadline = std::numeric_limits<std::int32_t>::max();
  if (!deadline.is_null() && (deadline.as_int() < 1 || deadline.as_int() > kLongestDeadline)) {
    causes.invalid("spec.activeDeadlineSeconds", deadline,
                   "must be between 1 and 2147483647, inclusive");
  }
  const std::string& hostname = spec["hostname"].as_string();
  if (const auto why = api::check_dns_label(hostname); why && !hostname.empty()) {
    causes.invalid("spec.hostname", hostname, *why);
  }
}

void check_pod_update(const json::Value& old, const json::Value& pod, Causes& causes) {
  if (!pod["spec"].is_object() || settled(old["spec"]) == settled(pod["spec"])) return;
  causes.forbidden(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`, "
      "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations`, "
      "`spec.terminationGracePeriodSeconds`");
}

}  // namespace muster::server
