#pragma once

#include "dialects/check/fields.h"
#include "json/value.h"

// The fields of a ChainerJob.
namespace muster::dialects::chainer {

FieldTable job_fields();
json::Value schema();

// Those of pod templates, stricter about restartPolicy.
FieldTable master_pod_fields();
FieldTable worker_pod_fields();

}  // namespace muster::dialects::chainer
