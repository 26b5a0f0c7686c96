#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/check/fields.h"
#include "dialects/check/findings.h"
#include "json/value.h"

// Rules that concern a job as a whole, whatever its kind: its name, its size, its templates.
namespace muster::dialects {

namespace rules {
inline constexpr Rule kJobName{"job-name", "FieldValueInvalid"};
inline constexpr Rule kNameLength{"name-length", "FieldValueTooLong"};
inline constexpr Rule kSomeRole{"some-role", "FieldValueRequired"};
inline constexpr Rule kJobSize{"job-size", "FieldValueInvalid"};
inline constexpr Rule kSomeContainer{"some-container", "FieldValueRequired"};

inline constexpr std::array kOfJobs = {kJobName, kNameLength, kSomeRole, kJobSize, kSomeContainer};
}  // namespace rules

// Pods carry the job's name in labels and as host name; a Service's name is stricter. `services`
// says what is named after the job, and is empty when nothing is; `longest` are the longest pod
// names, one for each role.
void check_job_name(const json::Value& job, std::string_view services,
                    const std::vector<std::string>& longest, Findings& findings);

// `path` is where the roles are.
void check_job_size(int total, const Path& path, Findings& findings);

// The template of a role against the table of templates and their rules. True when it has
// containers; `needs` says which it should have.
bool check_template(const FieldTable& table, const json::Value& role, const Path& path,
                    std::string_view needs, Findings& findings);

}  // namespace muster::dialects
