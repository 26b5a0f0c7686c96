#include "server/rules/volume_rules.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/names.h"
#include "api/object.h"
#include "api/quantity.h"
#include "server/volumes/binding.h"

namespace muster::server {
namespace {

// ReadWriteOncePod would have to be enforced between pods; nothing here does.
const std::vector<std::string>& access_modes() {
  static const std::vector<std::string> modes = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"};
  return modes;
}

void set_if_absent(json::Value& object, const char* field, json::Value value) {
  if (object.at_path(field).is_null()) object[field] = std::move(value);
}

void add_finalizer(json::Value& object, const char* finalizer) {
  json::Value& list = object["metadata"]["finalizers"];
  const json::Array& present = std::as_const(list).as_array();
  if (std::ranges::find(present, json::Value(finalizer)) == present.end())
    list.array().emplace_back(finalizer);
}

bool is_absolute_path(const std::string& path) {
  return path.starts_with('/') && !path.contains("/../") && !path.ends_with("/..");
}

void check_one_of(const json::Value& value, const std::string& at,
                  const std::vector<std::string>& supported, Causes& causes) {
  if (std::ranges::find(supported, value.as_string()) == supported.end())
    causes.unsupported(at, value, supported);
}

void check_modes(const json::Value& spec, Causes& causes) {
  const json::Array& modes = spec["accessModes"].as_array();
  if (modes.empty()) causes.required("spec.accessModes", "at least 1 access mode is required");
  for (std::size_t i = 0; i < modes.size(); ++i)
    check_one_of(modes[i], fmt::format("spec.accessModes[{}]", i), access_modes(), causes);
}

void check_size(const json::Value& storage, const std::string& at, Causes& causes) {
  if (storage.is_null()) return causes.required(at);
  const auto size = api::Quantity::from(storage);
  if (!size) return causes.invalid(at, storage, size.error().message);
  if (*size <= api::Quantity()) causes.invalid(at, storage, "must be greater than zero");
}

void check_common(const json::Value& spec, Causes& causes) {
  check_modes(spec, causes);
  check_one_of(spec["volumeMode"], "spec.volumeMode", {"Filesystem"}, causes);
  const std::string& class_name = spec["storageClassName"].as_string();
  if (const auto why = api::check_dns_subdomain(class_name); why && !class_name.empty())
    causes.invalid("spec.storageClassName", class_name, *why);
}

// The part of the spec that says where a volume is.
json::Value source_of(const json::Value& volume) {
  json::Value out;
  for (const char* field : {"hostPath", "local"}) out[field] = volume["spec"][field];
  return out;
}

}  // namespace

void default_claim(json::Value& claim) {
  add_finalizer(claim, kClaimProtection);
  claim["status"] = json::Object{{"phase", "Pending"}};
  default_claim_spec(claim["spec"]);
}

void default_claim_spec(json::Value& spec) {
  if (spec.is_null() || spec.is_object()) set_if_absent(spec, "volumeMode", "Filesystem");
}

void check_claim(const json::Value& claim, Causes& causes) {
  const json::Value& spec = claim["spec"];
  if (!spec.is_object()) return causes.invalid("spec", spec, "must be an object");
  check_common(spec, causes);
  check_size(spec["resources"]["requests"]["storage"], "spec.resources.requests.storage", causes);
  for (const char* field : {"dataSource", "dataSourceRef"}) {
    if (!spec[field].is_null())
      causes.forbidden(fmt::format("spec.{}", field), "volumes are not copied on this machine");
  }
}

void check_claim_update(const json::Value& old, const json::Value& claim, Causes& causes) {
  if (old["spec"] == claim["spec"]) return;
  causes.forbidden("spec", "spec is immutable after creation");
}

void default_volume(json::Value& volume) {
  add_finalizer(volume, kVolumeProtection);
  volume["status"] = json::Object{{"phase", "Pending"}};
  json::Value& spec = volume["spec"];
  if (!spec.is_null() && !spec.is_object()) return;
  set_if_absent(spec, "volumeMode", "Filesystem");
  set_if_absent(spec, "persistentVolumeReclaimPolicy", "Retain");
  if (spec.at_path("hostPath").is_object()) set_if_absent(spec["hostPath"], "type", "");
}

void check_volume(const json::Value& volume, Causes& causes) {
  const json::Value& spec = volume["spec"];
  if (!spec.is_object()) return causes.invalid("spec", spec, "must be an object");
  check_common(spec, causes);
  check_size(spec["capacity"]["storage"], "spec.capacity.storage", causes);
  check_one_of(spec["persistentVolumeReclaimPolicy"], "spec.persistentVolumeReclaimPolicy",
               {"Delete", "Retain"}, causes);
  const bool host = spec["hostPath"].is_object();
  if (host == spec["local"].is_object())
    return causes.required("spec.hostPath",
                           "volumes of this machine are directories: hostPath or local");
  const char* source = host ? "hostPath" : "local";
  const json::Value& path = spec[source]["path"];
  if (!is_absolute_path(path.as_string()))
    causes.invalid(fmt::format("spec.{}.path", source), path,
                   "must be an absolute path without '..'");
}

void check_volume_update(const json::Value& old, const json::Value& volume, Causes& causes) {
  if (source_of(old) == source_of(volume)) return;
  causes.forbidden("spec.persistentvolumesource",
                   "spec.persistentvolumesource is immutable after creation");
}

void default_storage_class(json::Value& storage_class) {
  set_if_absent(storage_class, "reclaimPolicy", "Delete");
  set_if_absent(storage_class, "volumeBindingMode", "Immediate");
}

void check_storage_class(const json::Value& storage_class, Causes& causes) {
  const std::string& provisioner = storage_class["provisioner"].as_string();
  if (provisioner.empty()) causes.required("provisioner", fmt::format("{} here", kProvisioner));
  check_one_of(storage_class["reclaimPolicy"], "reclaimPolicy", {"Delete", "Retain"}, causes);
  check_one_of(storage_class["volumeBindingMode"], "volumeBindingMode",
               {"Immediate", "WaitForFirstConsumer"}, causes);
  if (provisioner != kProvisioner) return;
  for (const auto& [name, value] : storage_class["parameters"].as_object()) {
    const auto at = fmt::format("parameters.{}", name);
    if (name != "path") {
      causes.unsupported(at, name, {"path"});
    } else if (!is_absolute_path(value.as_string())) {
      causes.invalid(at, value, "must be an absolute path without '..'");
    }
  }
}

void check_storage_class_update(const json::Value& old, const json::Value& storage_class,
                                Causes& causes) {
  for (const char* field : {"provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"}) {
    if (old[field] != storage_class[field])
      causes.forbidden(field, fmt::format("updates to {} are forbidden.", field));
  }
}

}  // namespace muster::server
