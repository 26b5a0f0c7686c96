#pragma once

#include "base/time.h"
#include "json/value.h"
#include "plan/dialect.h"
#include "plan/plan.h"

// The status of a PaddleJob: a phase, a mode, and the pods of each role.
namespace muster::dialects::paddle {

json::Value make_status(const plan::Plan& plan, const json::Value& stored,
                        const plan::Verdict& verdict, Time now);

plan::StoredPhase phase_of(const json::Value& status);

}  // namespace muster::dialects::paddle
