#pragma once

#include <array>
#include <string_view>

#include "dialects/check/fields.h"
#include "dialects/check/findings.h"
#include "dialects/paddle/job.h"

// What concerns several fields of a PaddleJob at once.
namespace muster::dialects::paddle {

namespace rules {
inline constexpr Rule kElasticWorkers{"elastic-workers", "FieldValueInvalid"};

inline constexpr std::array kOfPaddle = {kElasticWorkers};
}  // namespace rules

// The same words here and in the CRD.
inline constexpr std::string_view kNeedsARole =
    "a job needs ps, worker or heter with at least one replica";
inline constexpr std::string_view kElasticNeedsWorkers =
    "only workers are elastic; add worker with at least one replica, or remove this field";

// `pods` is the table of pod templates.
void check_job(const Job& job, const FieldTable& pods, Findings& findings);

// What runs, and not as its author may think.
std::vector<plan::Warning> warnings_of(const Job& job);

}  // namespace muster::dialects::paddle
