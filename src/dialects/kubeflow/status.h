#pragma once

#include "base/error.h"
#include "base/time.h"
#include "json/value.h"
#include "plan/plan.h"
#include "plan/verdict.h"

namespace muster::dialects::mindspore {

// The whole new status. What others wrote into the old one stays; conditions and replicaStatuses
// are always there, because the schema demands them.
json::Value make_status(const plan::Plan& plan, const json::Value& old,
                        const plan::Verdict& verdict, Time now);

// For an object that cannot run: Failed, for good, with what is wrong.
json::Value make_invalid_status(const json::Value& job, const Error& error, Time now);

}  // namespace muster::dialects::mindspore
