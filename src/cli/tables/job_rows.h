#pragma once

#include <string>

#include "cli/jobs/job_view.h"
#include "cli/tables/layout.h"

namespace muster::cli {

// Of every kind.
Layout job_layout(Width width);

// The job as it is at this moment: a status is up to some seconds behind the pods.
JobView view_with_pods(const json::Value& job, const plan::Dialect& dialect, const Objects& pods);

}  // namespace muster::cli
