#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "plan/dialect.h"

// T9k's MPIJobs for the tests of this folder.
namespace muster::dialects::test {

const plan::Dialect& t9k_mpijob();

// Two workers of the usual template; what follows are further members of spec:
// mpi_job("runPolicy: {cleanUpWorkers: true}").
json::Value mpi_job(std::string_view more = "{}");

// Its plan; a job that has none fails the test.
plan::Plan mpi_plan(const json::Value& job);

// The words of a container's command, the first container unless said otherwise.
std::vector<std::string> command_of(const json::Value& pod, std::size_t container = 0);
// The command behind `launch … --`.
std::vector<std::string> mpirun_of(const plan::Plan& plan);

// "spec.worker (one-layout)" of everything that is wrong with it.
std::vector<std::string> mistakes(const json::Value& job);
std::vector<std::string> update_mistakes(const json::Value& old, const json::Value& job);
// Reasons, but for the announcement of the job.
std::vector<std::string> warnings(const json::Value& job);

}  // namespace muster::dialects::test
