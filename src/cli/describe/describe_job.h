#pragma once

#include <string>

#include "cli/context.h"
#include "cli/jobs/listing.h"

namespace muster::cli {

// A job for people, with its pods; without its events.
std::string describe_job(const Context& context, const json::Value& job,
                         const plan::Dialect& dialect, const Objects& pods);

}  // namespace muster::cli
