#pragma once

#include "dialects/check/fields.h"
#include "json/value.h"

// The fields of an MPIJob, in all of its layouts.
namespace muster::dialects::t9k_mpi {

// The whole object but for what is inside of templates.
FieldTable job_fields();

// The same as a schema, with the status and the rules that an API server can check by itself.
json::Value schema();

}  // namespace muster::dialects::t9k_mpi
