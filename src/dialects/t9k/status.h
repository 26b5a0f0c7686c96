#pragma once

#include <span>
#include <string_view>

#include "base/time.h"
#include "dialects/check/fields.h"
#include "json/value.h"
#include "plan/dialect.h"
#include "plan/plan.h"

// The status of a T9k job: conditions, a phase, every pod by its role, and how many are in which
// phase.
namespace muster::dialects::t9k {

// Its rows, below status.
std::span<const Field> status_fields();

// `decides` is the role by which the job ends.
json::Value make_status(const plan::Plan& plan, std::string_view decides, const json::Value& stored,
                        const plan::Verdict& verdict, Time now);

plan::StoredPhase phase_of(const json::Value& status);

}  // namespace muster::dialects::t9k
