#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialects/t9k_mpi/job.h"
#include "json/value.h"

// Where the launcher of an MPIJob comes from, and what it runs.
namespace muster::dialects::t9k_mpi {

inline constexpr std::string_view kHostFileVolume = "t9k-hostfile";
inline constexpr std::string_view kHostFileFolder = "/t9k";
inline constexpr std::string_view kHostFile = "/t9k/hostfile";

// Its template has containers of its own.
bool has_own_launcher(const Job& job);

// Its pod template before anything of ours is in it: its own, or a copy of the worker's with the
// main container alone, without GPUs and the like. The job has a main container.
json::Value launcher_template(const Job& job);

// Of such a template, the container that mpirun runs in.
std::size_t launcher_container(const json::Value& pod_template);

// mpirun with all its arguments and the program.
std::vector<std::string> mpirun_command(const Job& job);

}  // namespace muster::dialects::t9k_mpi
