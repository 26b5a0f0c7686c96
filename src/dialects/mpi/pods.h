#pragma once

#include <string>
#include <vector>

#include "dialects/mpi/setup.h"
#include "dialects/template/pod_editor.h"
#include "plan/plan.h"

// Writing the agent (or sshd) into the pods of a job.
namespace muster::dialects::mpi {

// First of all: the init container that brings the agent, before those that are there, and its
// folder in every other container. Containers that are added later see the agent by `mount_agent`.
void add_agent(const Setup& setup, PodEditor& pod);
// In a container that is not in a pod yet.
void mount_agent(json::Value& container);

// A pod in which ranks are started, when the agent is there: host name (that of the pod) and
// subdomain, port, key, and MUSTER_MPI_SERVICE. Says nothing of its command.
void make_reachable(const Setup& setup, const plan::Value& pod_name, std::size_t main,
                    PodEditor& pod);

// The command of a worker: its own under the agent, or the agent alone where it has none; sshd
// where that starts the ranks. Arguments for a command that we do not know are left out, with a
// warning that begins with `where`.
void wrap_command(const Setup& setup, std::size_t main, std::string_view where, PodEditor& pod,
                  std::vector<plan::Warning>& warnings);
// What such a worker runs when the command it has does not matter.
std::vector<std::string> idle_command(const Setup& setup);

// A pod from which ranks are started, when the agent is there: key and MUSTER_MPI_SERVICE.
void make_launcher(const Setup& setup, std::size_t main, PodEditor& pod);

// What `launch` tells mpirun, for launchers that are not run by it, where the user says nothing
// else: to start its own ranks by the agent too, so that a failure of theirs is remarked on; and
// that with ssh it starts all daemons itself, because only its container has the private key.
void advise_mpirun(const Setup& setup, std::size_t main, PodEditor& pod);

// Key and MUSTER_MPI_SERVICE in a container that is not in a pod yet.
void give_key(const Setup& setup, json::Value& container);

// `muster-agent launch --hostfile FILE -- MPIRUN…`: waits until every host answers.
std::vector<std::string> launch_command(std::string_view host_file,
                                        const std::vector<std::string>& mpirun);

}  // namespace muster::dialects::mpi
