#pragma once

#include <array>
#include <string>

#include "dialects/check/job_rules.h"
#include "dialects/check/scheduling.h"
#include "dialects/kubeflow/job.h"

// What concerns several fields of a job at once: its name, its roles, the gang, main containers.
namespace muster::dialects::kubeflow {

namespace rules {
inline constexpr Rule kRoleKey{"role-key", "FieldValueNotSupported"};
inline constexpr Rule kSameRole{"same-role", "FieldValueDuplicate"};
inline constexpr Rule kRoleMissing{"role-missing", "FieldValueRequired"};
inline constexpr Rule kRoleSize{"role-size", "FieldValueInvalid"};
inline constexpr Rule kMainContainer{"main-container", "FieldValueRequired"};
inline constexpr Rule kJobPort{"job-port", "FieldValueInvalid"};

inline constexpr std::array kOfFamily = {
    kRoleKey, kSameRole, kRoleMissing, kRoleSize, kMainContainer, kJobPort,
};
}  // namespace rules

void check_job(const Job& job, Findings& findings);
// Of one role that has containers: the one that counts.
void check_containers(const Job& job, const RoleSpec& role, Findings& findings);

// "has no Worker; …", "must be 0 or 1: …": the same words here and in the CRD.
std::string role_missing(const RoleKind& role);
std::string role_limits(const RoleKind& role);

}  // namespace muster::dialects::kubeflow
