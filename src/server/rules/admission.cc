#include "server/rules/admission.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/names.h"
#include "api/object.h"
#include "base/limits.h"
#include "base/strings.h"
#include "server/rules/causes.h"
#include "server/rules/metadata_rules.h"
#include "server/rules/pod_defaults.h"
#include "server/rules/pod_rules.h"
#include "server/rules/role_rules.h"
#include "server/rules/service_rules.h"
#include "server/rules/volume_rules.h"

namespace muster::server {
namespace {

// Longer prefixes of generated names are cut, so that the whole fits a label.
constexpr std::size_t kLongestPrefix = 58;
constexpr int kSuffixLength = 5;

bool has_nulls(const json::Value& value) {
  return std::ranges::any_of(value.as_array(), has_nulls) ||
         std::ranges::any_of(value.as_object(), [](const auto& member) {
           return member.second.is_null() || has_nulls(member.second);
         });
}

// A null member means the same as none; only one of the two may be stored, or a write that changes
// nothing would look like a change.
void drop_nulls(json::Value& value) {
  if (value.is_array()) {
    for (json::Value& item : value.array()) drop_nulls(item);
  }
  if (!value.is_object()) return;
  std::vector<std::string> gone;
  for (auto& [key, member] : value.object()) {
    if (member.is_null()) gone.push_back(key);
    drop_nulls(member);
  }
  for (const std::string& key : gone) value.object().erase(key);
}

// What only the server writes into metadata.
constexpr std::array kSystemFields = {"uid",
                                      "resourceVersion",
                                      "generation",
                                      "creationTimestamp",
                                      "deletionTimestamp",
                                      "deletionGracePeriodSeconds",
                                      "selfLink",
                                      "managedFields"};

void default_namespace_object(json::Value& object) {
  object["spec"] = json::Object{{"finalizers", json::Array{"kubernetes"}}};
  object["status"] = json::Object{{"phase", "Active"}};
  const std::string name = api::name_of(object);
  json::Value& labels = object["metadata"]["labels"];
  if (labels.is_null() || labels.is_object()) labels["kubernetes.io/metadata.name"] = name;
}

void apply_defaults(const Kind& kind, json::Value& object) {
  if (kind.is(api::pods())) default_pod(object);
  if (kind.is(api::services())) {
    default_service(object);
    object["status"] = json::Object{{"loadBalancer", json::Object()}};
  }
  if (kind.is(api::namespaces())) default_namespace_object(object);
  if (kind.is(api::persistent_volume_claims())) default_claim(object);
  if (kind.is(api::persistent_volumes())) default_volume(object);
  if (kind.is(api::storage_classes())) default_storage_class(object);
  if (is_role_binding(kind)) default_role_binding(object);
  if (kind.is(api::secrets()) && object.at_path("type").is_null()) object["type"] = "Opaque";
  if (kind.dialect != nullptr) kind.dialect->set_defaults(object);
}

// stringData is a way to write data, never stored.
void fold_string_data(json::Value& secret) {
  const json::Value strings = secret.at_path("stringData");
  if (!strings.is_object()) return;
  json::Value& data = secret["data"];
  if (!data.is_null() && !data.is_object()) return;
  for (const auto& [key, value] : strings.as_object()) {
    data[key] = base64_encode(value.as_string());
  }
  secret.object().erase("stringData");
}

void check_data(const Kind& kind, const json::Value& object, Causes& causes) {
  const bool secret = kind.is(api::secrets());
  for (const auto& [key, value] : object["data"].as_object()) {
    const std::string at = fmt::format("data[{}]", key);
    if (key.empty() || key.contains('/') || key == "." || key == ".." || key.size() > 253) {
      causes.invalid(at, key, "a valid key consists of alphanumeric characters, '-', '_' or '.'");
    }
    if (!value.is_string()) {
      causes.invalid(at, value, "must be a string");
    } else if (secret && !base64_decode(value.as_string())) {
      causes.invalid(at, "…", "must be base64");
    }
  }
}

void check_kind(const Kind& kind, const json::Value& object, Causes& causes) {
  if (kind.is(api::pods())) check_pod(object, causes);
  if (kind.is(api::services())) check_service(object, causes);
  if (kind.is(api::config_maps()) || kind.is(api::secrets())) check_data(kind, object, causes);
  if (kind.is(api::persistent_volume_claims())) check_claim(object, causes);
  if (kind.is(api::persistent_volumes())) check_volume(object, causes);
  if (kind.is(api::storage_classes())) check_storage_class(object, causes);
  if (is_role(kind)) check_role(kind, object, causes);
  if (is_role_binding(kind)) check_role_binding(kind, object, causes);
  if (kind.is(api::events()) && object["involvedObject"].is_null()) {
    causes.required("involvedObject");
  }
  if (kind.dialect != nullptr) {
    for (FieldCause& cause : kind.dialect->validate(object)) causes.add(std::move(cause));
  }
}

Result<void> check_size(const json::Value& object) {
  // What is stored must be readable again, so a patch cannot nest deeper than a reader would go.
  if (is_deeper_than(object, limits::kMaxDepth)) {
    return fail(ErrorCode::BadRequest,
                fmt::format("the object is nested deeper than {} levels", limits::kMaxDepth));
  }
  if (json_size(object) <= limits::kMaxObjectBytes) return {};
  return fail(ErrorCode::TooLarge,
              fmt::format("Request entity too large: limit is {} bytes", limits::kMaxObjectBytes));
}

// True when something other than metadata and status differs.
bool spec_changed(const json::Value& old, const json::Value& object) {
  const auto differs = [](const json::Value& a, const json::Value& b) {
    for (const auto& [key, value] : a.as_object()) {
      if (key == "metadata" || key == "status") continue;
      if (b[key] != value) return true;
    }
    return false;
  };
  return differs(old, object) || differs(object, old);
}

void keep_system_fields(const json::Value& old, json::Value& object) {
  json::Object& metadata = object["metadata"].object();
  for (const char* field : kSystemFields) {
    const json::Value& before = old["metadata"][field];
    if (before.is_null()) {
      metadata.erase(field);
    } else {
      metadata.set(field, before);
    }
  }
}

void keep_status(const json::Value& old, json::Value& object) {
  if (old["status"].is_null()) {
    object.object().erase("status");
  } else {
    object["status"] = old["status"];
  }
}

}  // namespace

Result<void> check_shape(const Kind& kind, json::Value& object) {
  const api::Resource& resource = kind.resource;
  if (!object.is_object()) {
    return fail(ErrorCode::BadRequest,
                fmt::format("the body must be a {}, not {}", resource.kind, object.type_name()));
  }
  const json::Value& metadata = object.at_path("metadata");
  if (!metadata.is_null() && !metadata.is_object()) {
    return fail(ErrorCode::BadRequest,
                fmt::format("metadata must be an object, not {}", metadata.type_name()));
  }
  for (const char* field : {"name", "generateName", "namespace", "uid", "resourceVersion"}) {
    const json::Value& value = metadata[field];
    if (value.is_null() || value.is_string()) continue;
    return fail(ErrorCode::BadRequest,
                fmt::format("metadata.{} must be a string, not {}", field, value.type_name()));
  }
  for (const char* field : {"finalizers", "ownerReferences"}) {
    const json::Value& value = metadata[field];
    if (value.is_null() || value.is_array()) continue;
    return fail(ErrorCode::BadRequest,
                fmt::format("metadata.{} must be a list, not {}", field, value.type_name()));
  }
  const auto agree = [&object](const char* field, const std::string& expected) -> Result<void> {
    const std::string& given = object.at_path(field).as_string();
    if (!given.empty() && given != expected) {
      return fail(ErrorCode::BadRequest,
                  fmt::format("{} in the data ({}) does not match the expected ({})", field, given,
                              expected));
    }
    if (given.empty()) object[field] = expected;
    return {};
  };
  TRY(agree("apiVersion", resource.api_version()));
  TRY(agree("kind", resource.kind));
  json::Value& kept = kind.dialect == nullptr ? object : object["metadata"];
  if (has_nulls(kept)) drop_nulls(kept);  // mostly not, and what is not changed stays shared
  object["metadata"].object();
  return {};
}

Result<void> prepare_creation(const Kind& kind, json::Value& object, Rng& rng, Time now) {
  if (!api::resource_version_of(object).empty()) {
    return fail(ErrorCode::BadRequest,
                "resourceVersion should not be set on objects to be created");
  }
  json::Object& metadata = object["metadata"].object();
  for (const char* field : kSystemFields) metadata.erase(field);
  const json::Value* prefix = metadata.find("generateName");
  if (api::name_of(object).empty() && prefix != nullptr && !prefix->as_string().empty()) {
    metadata.set("name",
                 prefix->as_string().substr(0, kLongestPrefix) + name_suffix(rng, kSuffixLength));
  }
  metadata.set("uid", make_uuid(rng));
  metadata.set("creationTimestamp", format_time(now));
  if (kind.counts_generation) metadata.set("generation", 1);
  if (kind.has_status && !kind.keeps_status) object.object().erase("status");
  if (kind.is(api::secrets())) fold_string_data(object);
  apply_defaults(kind, object);
  return {};
}

Result<void> validate_creation(const Kind& kind, const json::Value& object) {
  Causes causes;
  check_metadata(kind, object, causes);
  check_kind(kind, object, causes);
  TRY(causes.verdict(kind.resource.kind, api::name_of(object)));
  return check_size(object);
}

Result<json::Value> prepare_update(const Kind& kind, const json::Value& old, json::Value object) {
  keep_system_fields(old, object);
  if (kind.has_status) keep_status(old, object);
  if (kind.is(api::pods())) default_pod_spec(object["spec"]);
  if (kind.is(api::services())) {
    keep_service_address(old, object);
    default_service(object);
  }
  if (kind.is(api::namespaces())) object["spec"] = old["spec"];
  if (kind.is(api::persistent_volume_claims())) default_claim_spec(object["spec"]);
  if (kind.is(api::storage_classes())) default_storage_class(object);
  if (is_role_binding(kind)) default_role_binding(object);
  if (kind.is(api::secrets())) fold_string_data(object);
  if (kind.dialect != nullptr) kind.dialect->set_defaults(object);

  Causes causes;
  const bool changed = spec_changed(old, object);
  check_metadata(kind, object, causes);
  check_metadata_update(old, object, causes);
  if (changed) check_kind(kind, object, causes);
  if (kind.dialect != nullptr) {
    for (FieldCause& cause : kind.dialect->validate_update(old, object))
      causes.add(std::move(cause));
  }
  if (kind.is(api::pods())) check_pod_update(old, object, causes);
  if (kind.is(api::services())) check_service_update(old, object, causes);
  if (kind.is(api::persistent_volume_claims())) check_claim_update(old, object, causes);
  if (kind.is(api::persistent_volumes())) check_volume_update(old, object, causes);
  if (kind.is(api::storage_classes())) check_storage_class_update(old, object, causes);
  if (is_role_binding(kind)) check_role_binding_update(old, object, causes);
  TRY(causes.verdict(kind.resource.kind, api::name_of(old)));
  TRY(check_size(object));
  if (kind.counts_generation && changed) {
    object["metadata"]["generation"] = api::generation_of(old) + 1;
  }
  return object;
}

Result<json::Value> prepare_status_update(const Kind& kind, const json::Value& old,
                                          const json::Value& object) {
  json::Value made = old;
  const json::Value& status = object["status"];
  if (status.is_null()) {
    made.object().erase("status");
  } else {
    made["status"] = status;
  }
  const json::Value& quality = old["status"]["qosClass"];
  if (kind.is(api::pods()) && status.is_object() && status["qosClass"].is_null() &&
      !quality.is_null()) {
    made["status"]["qosClass"] = quality;
  }
  if (!status.is_null() && !status.is_object()) {
    Causes causes;
    causes.invalid("status", status, "must be an object");
    TRY(causes.verdict(kind.resource.kind, api::name_of(old)));
  }
  TRY(check_size(made));
  return made;
}

Result<void> check_preconditions(const Kind& kind, const json::Value& old, std::string_view uid,
                                 std::string_view resource_version) {
  const std::string& name = api::name_of(old);
  if (!uid.empty() && uid != api::uid_of(old)) {
    return fail(conflict(
        kind, name,
        fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). The "
                    "object might have been deleted and then recreated",
                    uid, api::uid_of(old))));
  }
  if (!resource_version.empty() && resource_version != api::resource_version_of(old)) {
    return fail(conflict(kind, name,
                         "the object has been modified; please apply your changes to the latest "
                         "version and try again"));
  }
  return {};
}

Error not_found(const Kind& kind, std::string_view name) {
  return {.code = ErrorCode::NotFound,
          .message = fmt::format("{} \"{}\" not found", kind.resource.qualified(), name),
          .causes = {},
          .retry_after = std::nullopt};
}

Error already_exists(const Kind& kind, std::string_view name) {
  return {.code = ErrorCode::AlreadyExists,
          .message = fmt::format("{} \"{}\" already exists", kind.resource.qualified(), name),
          .causes = {},
          .retry_after = std::nullopt};
}

Error conflict(const Kind& kind, std::string_view name, std::string_view why) {
  return {.code = ErrorCode::Conflict,
          .message = fmt::format("Operation cannot be fulfilled on {} \"{}\": {}",
                                 kind.resource.qualified(), name, why),
          .causes = {},
          .retry_after = std::nullopt};
}

Error forbidden(const Kind& kind, std::string_view name, std::string_view why) {
  return {
      .code = ErrorCode::Forbidden,
      .message = fmt::format("{} \"{}\" is forbidden: {}", kind.resource.qualified(), name, why),
      .causes = {},
      .retry_after = std::nullopt};
}

}  // namespace muster::server
