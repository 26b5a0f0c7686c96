#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "dialects/check/fields.h"
#include "dialects/check/findings.h"
#include "dialects/t9k_mpi/job.h"

// What concerns several fields of an MPIJob at once.
namespace muster::dialects::t9k_mpi {

namespace rules {
inline constexpr Rule kOneLayout{"one-layout", "FieldValueForbidden"};
inline constexpr Rule kProgram{"program", "FieldValueRequired"};
inline constexpr Rule kMainContainer{"main-container", "FieldValueRequired"};
inline constexpr Rule kOneLauncher{"one-launcher", "FieldValueInvalid"};
inline constexpr Rule kOnePlace{"one-place", "FieldValueInvalid"};

inline constexpr std::array kOfMpiJob = {kOneLayout, kProgram, kMainContainer, kOneLauncher,
                                         kOnePlace};
}  // namespace rules

// The same words here and in the CRD.
inline constexpr std::string_view kMixed =
    "two layouts are mixed: either worker, mca and mpiHome, or replicaSpecs and mpiConfig";
inline constexpr std::string_view kMixedArguments =
    "processesPerWorker and processRecovery are the older way to say extraMPIArgs; keep one of the "
    "two";
inline constexpr std::string_view kNeedsAProgram =
    "a job needs a program: worker.cmd, or mpiConfig.script";
inline constexpr std::string_view kNeedsWorkers =
    "a job needs workers: worker, or one entry of replicaSpecs with the type worker";
inline constexpr std::string_view kOneLauncher = "there is one launcher; its replicas must be 1";

// `pods` is the table of pod templates.
void check_job(const Job& job, const FieldTable& pods, Findings& findings);

// What runs, and not as its author may think.
std::vector<plan::Warning> warnings_of(const Job& job);

}  // namespace muster::dialects::t9k_mpi
