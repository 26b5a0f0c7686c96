#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/environment.h"
#include "base/error.h"
#include "base/time.h"
#include "net/tls/tls.h"

namespace muster::agent::mpi {

inline constexpr std::uint16_t kDefaultPort = 8122;

// What the pods of one MPI job have in common.
struct Settings {
  std::optional<net::TlsKeyOptions> key;  // the job's; none: sshd starts processes
  std::uint16_t port = kDefaultPort;
  std::string service;  // under which the names of pods resolve; empty: as they are
};

// From MUSTER_MPI_KEY (the file; default: where the key is mounted), MUSTER_MPI_PORT and
// MUSTER_MPI_SERVICE.
Result<Settings> read_settings(const Environment& environment);

// True where mpirun starts its daemons with ssh, by OMPI_MCA_plm_rsh_agent.
bool uses_ssh(const Environment& environment);
// From MUSTER_SSH_PORT (default: 22) and MUSTER_MPI_SERVICE.
Result<Settings> read_ssh_settings(const Environment& environment);

// MUSTER_MPI_WAIT in seconds; 0: without end.
Result<Duration> read_wait(const Environment& environment, Duration otherwise);

// The name to look a host up by: one without a dot is a pod of the service.
std::string full_name(const std::string& host, const std::string& service);

// True for the names by which others call this host.
bool is_own_name(const std::string& host, const std::string& hostname, const std::string& service);

std::string own_hostname();

}  // namespace muster::agent::mpi
