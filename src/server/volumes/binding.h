#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "server/types.h"

// Which volume a claim gets, as plain functions of the objects.
namespace muster::server {

inline constexpr const char* kClaimProtection = "kubernetes.io/pvc-protection";
inline constexpr const char* kVolumeProtection = "kubernetes.io/pv-protection";
// Makes directories of this machine.
inline constexpr const char* kProvisioner = "muster.dev/local";
inline constexpr const char* kProvisionedBy = "pv.kubernetes.io/provisioned-by";
inline constexpr const char* kDefaultClass = "storageclass.kubernetes.io/is-default-class";

// The class of claims that name none; empty when no class is marked so. The youngest of several.
std::string default_class(const std::vector<ObjectPtr>& classes);

// Whether the volume is bound to, or kept for, this very claim.
bool belongs_to(const json::Value& volume, const json::Value& claim);

// The free volume that fits the claim best: one that is kept for it, else the smallest that is
// large enough. Null when there is none.
ObjectPtr find_volume(const json::Value& claim, const std::vector<ObjectPtr>& volumes);
// Why a volume that the claim names cannot be its own; nothing when it can.
std::optional<std::string> obstacle(const json::Value& claim, const json::Value& volume);

// A pod that is not over names the claim.
bool is_used(const json::Value& claim, const std::vector<ObjectPtr>& pods);

// The name of the volume that is made for a claim, and its directory below `root`: people find
// their data by namespace and name.
std::string provisioned_name(const json::Value& claim);
std::string provisioned_directory(const json::Value& claim, std::string_view root);
// The volume that is made for a claim of this class, already kept for it.
json::Value provisioned_volume(const json::Value& claim, const json::Value& storage_class,
                               std::string_view directory);
// The directory that was made for the volume, when we made one: never what somebody else named.
std::optional<std::string> own_directory(const json::Value& volume);

// Both sides of a binding, as they are stored.
json::Value bound_volume(const json::Value& volume, const json::Value& claim);
json::Value bound_claim(const json::Value& claim, const json::Value& volume);

}  // namespace muster::server
