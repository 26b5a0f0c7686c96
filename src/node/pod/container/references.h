#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/resource.h"
#include "base/error.h"
#include "json/value.h"

// The ConfigMaps and Secrets that a pod reads.
namespace muster::node {

enum class ReferenceKind { ConfigMap, Secret };

struct Reference {
  ReferenceKind kind = ReferenceKind::ConfigMap;
  std::string name;  // in the pod's own namespace

  friend auto operator<=>(const Reference&, const Reference&) = default;
};

// All that a pod's containers and volumes name, optional ones included.
std::set<Reference> references_of(const json::Value& pod);

// Gives the object, or null when it does not exist.
using Lookup = std::function<api::ObjectPtr(const Reference&)>;

// Some of them as they were at one moment; one that did not exist is not there, or null.
using ReferencedObjects = std::map<Reference, api::ObjectPtr>;
// In these; they outlive it.
Lookup lookup_in(const ReferencedObjects& objects);

// The decoded bytes of one key: data and binaryData of a ConfigMap, data of a Secret.
std::optional<std::string> value_at(const json::Value& object, ReferenceKind kind,
                                    std::string_view key);

// `configmap "x" not found`: the kubelet's own words, which people search for.
Error not_found(const Reference& reference);

}  // namespace muster::node
