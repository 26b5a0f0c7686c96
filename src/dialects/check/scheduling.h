#pragma once

#include <array>
#include <span>
#include <vector>

#include "dialects/check/fields.h"
#include "plan/plan.h"

// The schedulingPolicy that several kinds have.
namespace muster::dialects {

namespace rules {
inline constexpr Rule kMinAvailable{"min-available", "FieldValueInvalid"};

inline constexpr std::array kOfScheduling = {kMinAvailable};
}  // namespace rules

// Its rows, the first for itself.
std::span<const Field> scheduling_fields();

// More than the job has can never fit at once.
void check_min_available(const json::Value& policy, int total, const Path& path,
                         Findings& findings);

// What a job may say and nothing obeys yet, and what to do instead.
void warn_of_scheduling(const json::Value& policy, const Path& path,
                        std::vector<plan::Warning>& warnings);

}  // namespace muster::dialects
