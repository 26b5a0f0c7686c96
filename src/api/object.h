#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource.h"
#include "base/error.h"
#include "base/time.h"
#include "json/value.h"

// Reading and writing the metadata of raw objects.
namespace muster::api {

const std::string& name_of(const json::Value& object);
const std::string& namespace_of(const json::Value& object);
const std::string& uid_of(const json::Value& object);
const std::string& resource_version_of(const json::Value& object);
std::int64_t generation_of(const json::Value& object);
ObjectKey key_of(const json::Value& object);
const std::string& kind_of(const json::Value& object);
const std::string& api_version_of(const json::Value& object);

// Empty when there is none.
const std::string& label_of(const json::Value& object, std::string_view key);
const std::string& annotation_of(const json::Value& object, std::string_view key);

bool is_deleting(const json::Value& object);
std::optional<Time> creation_time_of(const json::Value& object);
std::optional<Time> time_at(const json::Value& value);  // a metav1.Time, when it is one

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool block_owner_deletion = false;

  [[nodiscard]] json::Value to_json() const;
};

std::vector<OwnerReference> owners_of(const json::Value& object);
// The uid of the owner with controller: true; empty when there is none.
std::string controller_uid_of(const json::Value& object);

// Splits "group/version"; core has an empty group.
struct GroupVersion {
  std::string group;
  std::string version;
};
GroupVersion split_api_version(std::string_view api_version);

// spec.containers and the like by name; null when there is none.
const json::Value* find_named(const json::Value& list, std::string_view name);

// The entry of status.conditions with this type; null when there is none.
const json::Value& condition_of(const json::Value& object, std::string_view type);
bool condition_is_true(const json::Value& object, std::string_view type);

}  // namespace muster::api
