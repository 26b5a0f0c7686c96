#pragma once

#include "dialects/check/fields.h"
#include "json/value.h"

// The fields of a PaddleJob.
namespace muster::dialects::paddle {

// The whole object but for what is inside of templates.
FieldTable job_fields();

// The same as a schema, with the status and the rules that an API server can check by itself.
json::Value schema();

}  // namespace muster::dialects::paddle
