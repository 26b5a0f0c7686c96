#include "server/http/volume_printer.h"

#include "api/object.h"
#include "base/strings.h"

namespace muster::server {
namespace {

// ReadWriteMany → RWX
std::string short_modes(const json::Value& modes) {
  std::vector<std::string> out;
  for (const json::Value& mode : modes.as_array()) {
    const std::string& text = mode.as_string();
    out.push_back(text == "ReadWriteMany"   ? "RWX"
                  : text == "ReadWriteOnce" ? "RWO"
                  : text == "ReadOnlyMany"  ? "ROX"
                                            : text);
  }
  return join(out, ",");
}

}  // namespace

bool is_volume_kind(const Kind& kind) {
  return kind.is(api::persistent_volume_claims()) || kind.is(api::persistent_volumes()) ||
         kind.is(api::storage_classes());
}

std::vector<Column> volume_columns(const Kind& kind) {
  const Column name{.name = "Name", .format = "name"};
  if (kind.is(api::persistent_volume_claims())) {
    return {name,
            {.name = "Status"},
            {.name = "Volume"},
            {.name = "Capacity"},
            {.name = "Access Modes"},
            {.name = "StorageClass"},
            {.name = "Age"}};
  }
  if (kind.is(api::persistent_volumes())) {
    return {name,
            {.name = "Capacity"},
            {.name = "Access Modes"},
            {.name = "Reclaim Policy"},
            {.name = "Status"},
            {.name = "Claim"},
            {.name = "StorageClass"},
            {.name = "Age"}};
  }
  return {name,
          {.name = "Provisioner"},
          {.name = "ReclaimPolicy"},
          {.name = "VolumeBindingMode"},
          {.name = "Age"}};
}

std::vector<json::Value> volume_cells(const Kind& kind, const json::Value& object,
                                      const std::string& age) {
  const json::Value& spec = object["spec"];
  const json::Value& status = object["status"];
  const std::string& name = api::name_of(object);
  if (kind.is(api::persistent_volume_claims())) {
    const auto phase =
        api::is_deleting(object) ? std::string("Terminating") : status["phase"].as_string();
    return {name,
            phase,
            spec["volumeName"].as_string(),
            status["capacity"]["storage"].as_string(),
            short_modes(status["accessModes"]),
            spec["storageClassName"].as_string(),
            age};
  }
  if (kind.is(api::persistent_volumes())) {
    const json::Value& claim = spec["claimRef"];
    const auto claim_text = claim.is_object()
                                ? claim["namespace"].as_string() + "/" + claim["name"].as_string()
                                : std::string();
    return {name,
            spec["capacity"]["storage"].as_string(),
            short_modes(spec["accessModes"]),
            spec["persistentVolumeReclaimPolicy"].as_string(),
            status["phase"].as_string(),
            claim_text,
            spec["storageClassName"].as_string(),
            age};
  }
  const bool is_default =
      api::annotation_of(object, "storageclass.kubernetes.io/is-default-class") == "true";
  return {is_default ? name + " (default)" : name, object["provisioner"].as_string(),
          object["reclaimPolicy"].as_string(), object["volumeBindingMode"].as_string(), age};
}

}  // namespace muster::server
