#pragma once

#include "dialects/check/fields.h"
#include "dialects/kubeflow/kind.h"
#include "json/value.h"

// The fields of a kind: those that the whole family has, and its own.
namespace muster::dialects::kubeflow {

// The whole object but for what is inside of templates.
FieldTable job_fields(const Kind& kind);

// The same as a schema, with the status and the rules that CEL can say.
json::Value job_schema(const Kind& kind);

}  // namespace muster::dialects::kubeflow
