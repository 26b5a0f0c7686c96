#pragma once

#include <string>

#include "json/value.h"
#include "node/agent/options.h"

// Resources that the machine does not have and its node offers for tests. Whoever sees the node or
// a pod that got some is told.
namespace muster::node {

inline constexpr const char* kDeclaredAnnotation = "muster.dev/declared-resources";
inline constexpr const char* kDeclaredCondition = "muster.dev/DeclaredResources";
inline constexpr const char* kDeclaredReason = "DeclaredResources";

// nvidia.com/gpu=4; empty: all that the node offers is real.
std::string declared_resources(const NodeOptions& options);
// What the pod gets of them; empty: nothing.
std::string declared_resources(const json::Value& pod, const NodeOptions& options);
// What people read of them.
std::string declared_message(const std::string& resources);

}  // namespace muster::node
