#include "server/volumes/binding.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "api/quantity.h"

namespace muster::server {
namespace {

api::Quantity size_of(const json::Value& storage) {
  return api::Quantity::from(storage).value_or(api::Quantity());
}

bool offers_modes(const json::Value& volume, const json::Value& claim) {
  const json::Array& offered = volume["spec"]["accessModes"].as_array();
  return std::ranges::all_of(claim["spec"]["accessModes"].as_array(), [&](const auto& mode) {
    return std::ranges::find(offered, mode) != offered.end();
  });
}

bool matches_one(const json::Value& expression, const json::Value& label) {
  const std::string& operation = expression["operator"].as_string();
  if (operation == "Exists") return !label.is_null();
  if (operation == "DoesNotExist") return label.is_null();
  const json::Array& values = expression["values"].as_array();
  const bool listed = std::ranges::find(values, label) != values.end();
  return operation == "In" ? !label.is_null() && listed : label.is_null() || !listed;
}

bool matches_selector(const json::Value& volume, const json::Value& selector) {
  const json::Value& labels = volume["metadata"]["labels"];
  for (const auto& [key, value] : selector["matchLabels"].as_object()) {
    if (labels[key] != value) return false;
  }
  return std::ranges::all_of(
      selector["matchExpressions"].as_array(), [&](const json::Value& expression) {
        return matches_one(expression, labels[expression["key"].as_string()]);
      });
}

bool is_kept_for(const json::Value& volume, const json::Value& claim) {
  const json::Value& reference = volume["spec"]["claimRef"];
  return reference["namespace"].as_string() == api::namespace_of(claim) &&
         reference["name"].as_string() == api::name_of(claim) &&
         (reference["uid"].as_string().empty() ||
          reference["uid"].as_string() == api::uid_of(claim));
}

}  // namespace

std::string default_class(const std::vector<ObjectPtr>& classes) {
  ObjectPtr youngest;
  for (const ObjectPtr& each : classes) {
    if (api::annotation_of(*each, kDefaultClass) != "true") continue;
    if (!youngest || api::creation_time_of(*youngest) < api::creation_time_of(*each))
      youngest = each;
  }
  return youngest ? api::name_of(*youngest) : "";
}

bool belongs_to(const json::Value& volume, const json::Value& claim) {
  return is_kept_for(volume, claim) &&
         volume["spec"]["claimRef"]["uid"].as_string() == api::uid_of(claim);
}

std::optional<std::string> obstacle(const json::Value& claim, const json::Value& volume) {
  const auto because = [&volume](std::string_view why) {
    return fmt::format("volume \"{}\" {}", api::name_of(volume), why);
  };
  if (api::is_deleting(volume)) return because("is being deleted");
  if (volume["spec"]["claimRef"].is_object() && !is_kept_for(volume, claim))
    return because("is already bound to a different claim");
  if (volume["spec"]["storageClassName"].as_string() !=
      claim["spec"]["storageClassName"].as_string())
    return because("has another storageClassName than the claim");
  if (!offers_modes(volume, claim)) return because("does not have the claim's accessModes");
  if (size_of(volume["spec"]["capacity"]["storage"]) <
      size_of(claim["spec"]["resources"]["requests"]["storage"]))
    return because("is smaller than the claim asks for");
  return std::nullopt;
}

ObjectPtr find_volume(const json::Value& claim, const std::vector<ObjectPtr>& volumes) {
  ObjectPtr best;
  for (const ObjectPtr& volume : volumes) {
    const bool kept = (*volume)["spec"]["claimRef"].is_object();
    if (obstacle(claim, *volume)) continue;
    if (kept) return volume;
    if (!matches_selector(*volume, claim["spec"]["selector"])) continue;
    const auto size = size_of((*volume)["spec"]["capacity"]["storage"]);
    if (!best || size < size_of((*best)["spec"]["capacity"]["storage"])) best = volume;
  }
  return best;
}

bool is_used(const json::Value& claim, const std::vector<ObjectPtr>& pods) {
  return std::ranges::any_of(pods, [&](const ObjectPtr& pod) {
    if (api::namespace_of(*pod) != api::namespace_of(claim) ||
        api::is_finished(api::phase_of(*pod)))
      return false;
    return std::ranges::any_of(
        (*pod)["spec"]["volumes"].as_array(), [&](const json::Value& volume) {
          return volume["persistentVolumeClaim"]["claimName"].as_string() == api::name_of(claim);
        });
  });
}

std::string provisioned_name(const json::Value& claim) {
  return "pvc-" + api::uid_of(claim);
}

std::string provisioned_directory(const json::Value& claim, std::string_view root) {
  return fmt::format("{}/{}_{}_{}", root, api::namespace_of(claim), api::name_of(claim),
                     provisioned_name(claim));
}

json::Value provisioned_volume(const json::Value& claim, const json::Value& storage_class,
                               std::string_view directory) {
  json::Value volume;
  volume["metadata"]["name"] = provisioned_name(claim);
  volume["metadata"]["annotations"][kProvisionedBy] = kProvisioner;
  json::Value& spec = volume["spec"];
  spec["capacity"]["storage"] = claim["spec"]["resources"]["requests"]["storage"];
  spec["accessModes"] = claim["spec"]["accessModes"];
  spec["volumeMode"] = claim["spec"]["volumeMode"];
  spec["storageClassName"] = api::name_of(storage_class);
  spec["persistentVolumeReclaimPolicy"] = storage_class["reclaimPolicy"];
  // Not DirectoryOrCreate: data that is gone must not come back as an empty directory.
  spec["hostPath"] = json::Object{{"path", directory}, {"type", "Directory"}};
  spec["claimRef"] = bound_volume(volume, claim)["spec"]["claimRef"];
  return volume;
}

std::optional<std::string> own_directory(const json::Value& volume) {
  const std::string& name = api::name_of(volume);
  const json::Value& reference = volume["spec"]["claimRef"];
  const std::string& path = volume["spec"]["hostPath"]["path"].as_string();
  // Its last part names the claim that it was made for, so no other directory can ever be meant.
  const bool ours = api::annotation_of(volume, kProvisionedBy) == kProvisioner &&
                    name == "pvc-" + reference["uid"].as_string() &&
                    std::filesystem::path(path).filename() ==
                        fmt::format("{}_{}_{}", reference["namespace"].as_string(),
                                    reference["name"].as_string(), name);
  return ours ? std::optional(path) : std::nullopt;
}

json::Value bound_volume(const json::Value& volume, const json::Value& claim) {
  json::Value out = volume;
  out["spec"]["claimRef"] = json::Object{{"apiVersion", "v1"},
                                         {"kind", "PersistentVolumeClaim"},
                                         {"namespace", api::namespace_of(claim)},
                                         {"name", api::name_of(claim)},
                                         {"uid", api::uid_of(claim)}};
  out["status"] = json::Object{{"phase", "Bound"}};
  return out;
}

json::Value bound_claim(const json::Value& claim, const json::Value& volume) {
  json::Value out = claim;
  out["spec"]["volumeName"] = api::name_of(volume);
  out["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = "yes";
  out["status"] = json::Object{{"phase", "Bound"},
                               {"accessModes", volume["spec"]["accessModes"]},
                               {"capacity", volume["spec"]["capacity"]}};
  return out;
}

}  // namespace muster::server
