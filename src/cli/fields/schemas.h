#pragma once

#include <string>
#include <vector>

#include "api/resource.h"
#include "json/value.h"
#include "plan/dialect.h"

// What may stand in the objects of a kind: the schema of its dialect or a type of Kubernetes' own,
// with pod templates and metadata filled in. Nodes may refer to kubernetes_types().
namespace muster::cli {

// Null: nothing is known of the kind.
json::Value schema_for(const api::Resource& resource, const plan::Dialect* dialect);

// What a node refers to, or itself.
const json::Value& resolve(const json::Value& node);

// Whether anything may stand there.
bool is_open(const json::Value& node);

// The specs of all pods that the object holds: of its templates, or its own. They can be changed.
std::vector<json::Value*> pod_specs(const json::Value& schema, json::Value& object);

}  // namespace muster::cli
