#pragma once

#include "dialects/check/fields.h"
#include "json/value.h"

// The fields of a batch/v1 Job, with its pod template.
namespace muster::dialects::batch {

FieldTable job_fields();
json::Value job_schema();

}  // namespace muster::dialects::batch
