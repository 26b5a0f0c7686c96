#pragma once

#include <string_view>
#include <vector>

#include "dialects/t9k_mpi/job.h"
#include "plan/plan.h"

// Pods and host file of an MPIJob.
namespace muster::dialects::t9k_mpi {

plan::Role make_launcher(const Job& job, const mpi::Setup& setup,
                         std::vector<plan::Warning>& warnings);
plan::Role make_worker(const Job& job, const mpi::Setup& setup,
                       std::vector<plan::Warning>& warnings);

// One line a worker, which mpirun reads.
plan::Object make_host_file(const Job& job);

// What selects the workers.
json::Object worker_selector(const Job& job);

}  // namespace muster::dialects::t9k_mpi
