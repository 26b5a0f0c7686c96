#pragma once

#include <array>
#include <vector>

#include "base/error.h"
#include "dialects/check/findings.h"
#include "json/value.h"

// What a table of single fields cannot say of a Job.
namespace muster::dialects::batch {

namespace rules {
inline constexpr Rule kNotSupported{"not-supported", "FieldValueForbidden"};
inline constexpr Rule kSomeContainer{"some-container", "FieldValueRequired"};
inline constexpr Rule kCompletions{"indexed-completions", "FieldValueRequired"};
inline constexpr Rule kJobName{"job-name", "FieldValueInvalid"};
inline constexpr Rule kOwnSelector{"own-selector", "FieldValueForbidden"};
inline constexpr Rule kOwnLabel{"own-label", "FieldValueInvalid"};
inline constexpr Rule kImmutable{"immutable", "FieldValueInvalid"};

inline constexpr std::array kOfFamily = {kNotSupported, kSomeContainer, kCompletions,
                                         kJobName,      kOwnSelector,   kOwnLabel};
}  // namespace rules

void check_job(const json::Value& job, Findings& findings);

// What may not change once the Job is there.
void check_update(const json::Value& old, const json::Value& job, Findings& findings);

}  // namespace muster::dialects::batch
