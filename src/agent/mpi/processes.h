#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace muster::agent::mpi {

// Sends a signal to every process of a session (setsid), also to those that have left its first
// process group, as the ranks of a daemon do.
void signal_session(pid_t session, int number);
bool session_has_processes(pid_t session);

// When a process began, in the kernel's ticks since boot; 0 when there is none.
std::int64_t start_time_of(pid_t pid);

// The path of this program.
std::string own_program();

// Ends every process below this one, and waits until they are gone.
void end_descendants();

}  // namespace muster::agent::mpi
