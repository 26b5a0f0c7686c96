#include "api/object.h"

namespace muster::api {

const std::string& name_of(const json::Value& object) {
  return object["metadata"]["name"].as_string();
}

const std::string& namespace_of(const json::Value& object) {
  return object["metadata"]["namespace"].as_string();
}

const std::string& uid_of(const json::Value& object) {
  return object["metadata"]["uid"].as_string();
}

const std::string& resource_version_of(const json::Value& object) {
  return object["metadata"]["resourceVersion"].as_string();
}

std::int64_t generation_of(const json::Value& object) {
  return object["metadata"]["generation"].as_int();
}

ObjectKey key_of(const json::Value& object) {
  return {.ns = namespace_of(object), .name = name_of(object)};
}

const std::string& kind_of(const json::Value& object) {
  return object["kind"].as_string();
}

const std::string& api_version_of(const json::Value& object) {
  return object["apiVersion"].as_string();
}

const std::string& label_of(const json::Value& object, std::string_view key) {
  return object["metadata"]["labels"][key].as_string();
}

const std::string& annotation_of(const json::Value& object, std::string_view key) {
  return object["metadata"]["annotations"][key].as_string();
}

bool is_deleting(const json::Value& object) {
  return !object["metadata"]["deletionTimestamp"].is_null();
}

std::optional<Time> creation_time_of(const json::Value& object) {
  return time_at(object["metadata"]["creationTimestamp"]);
}

std::optional<Time> time_at(const json::Value& value) {
  if (!value.is_string()) return std::nullopt;
  const auto time = parse_time(value.as_string());
  return time.has_value() ? std::optional(*time) : std::nullopt;
}

json::Value OwnerReference::to_json() const {
  json::Object reference{{"apiVersion", api_version}, {"kind", kind}, {"name", name}, {"uid", uid}};
  // Absent means false to Kubernetes; written only when set, so that objects compare equal.
  if (controller) reference.append("controller", true);
  if (block_owner_deletion) reference.append("blockOwnerDeletion", true);
  return reference;
}

std::vector<OwnerReference> owners_of(const json::Value& object) {
  std::vector<OwnerReference> owners;
  for (const json::Value& reference : object["metadata"]["ownerReferences"].as_array()) {
    owners.push_back({.api_version = reference["apiVersion"].as_string(),
                      .kind = reference["kind"].as_string(),
                      .name = reference["name"].as_string(),
                      .uid = reference["uid"].as_string(),
                      .controller = reference["controller"].as_bool(),
                      .block_owner_deletion = reference["blockOwnerDeletion"].as_bool()});
  }
  return owners;
}

std::string controller_uid_of(const json::Value& object) {
  for (const json::Value& reference : object["metadata"]["ownerReferences"].as_array()) {
    if (reference["controller"].as_bool()) return reference["uid"].as_string();
  }
  return {};
}

GroupVersion split_api_version(std::string_view api_version) {
  const auto slash = api_version.find('/');
  if (slash == std::string_view::npos) return {.version = std::string(api_version)};
  return {.group = std::string(api_version.substr(0, slash)),
          .version = std::string(api_version.substr(slash + 1))};
}

const json::Value* find_named(const json::Value& list, std::string_view name) {
  for (const json::Value& item : list.as_array()) {
    if (item["name"].as_string() == name) return &item;
  }
  return nullptr;
}

const json::Value& condition_of(const json::Value& object, std::string_view type) {
  static const json::Value none;
  for (const json::Value& condition : object["status"]["conditions"].as_array()) {
    if (condition["type"].as_string() == type) return condition;
  }
  return none;
}

bool condition_is_true(const json::Value& object, std::string_view type) {
  return condition_of(object, type)["status"].as_string() == "True";
}

}  // namespace muster::api
