#pragma once

#include <string_view>

#include "json/value.h"

// The types of Kubernetes' own objects that stand in manifests: which members each has.
namespace muster::cli {

// The table below as schemas by name: {"PodSpec": {type: object, properties: {…}}, …}. Members of
// another type refer to it by name ({"$ref": "Container"}).
const json::Object& kubernetes_types();

// A type a paragraph: its name and a sentence, then its members with type and sentence. A type is
// string, integer, number, boolean, quantity, number-or-text, time or any (an object that may hold
// anything), or another paragraph; []T is a list and {}T a map of them.
extern const std::string_view kPodTypes;
extern const std::string_view kVolumeTypes;
extern const std::string_view kObjectTypes;

}  // namespace muster::cli
