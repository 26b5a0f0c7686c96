#pragma once

#include "agent/verbs.h"

// How the ranks of an MPI job are started without sshd. docs/mpi.md tells the whole story.
namespace muster::agent::mpi {

Task<Result<int>> install(VerbContext& context);
Task<Result<int>> run(VerbContext& context);
Task<Result<int>> rsh(VerbContext& context);
Task<Result<int>> hosts(VerbContext& context);
Task<Result<int>> launch(VerbContext& context);
Task<Result<int>> rank(VerbContext& context);
Task<Result<int>> sshd(VerbContext& context);

inline constexpr Verb kInstall{
    .name = "install",
    .summary = "copies this program into a directory, for the containers of the pod",
    .help = R"(usage: muster-agent install DIRECTORY

Copies this program to DIRECTORY/muster-agent: complete and executable, or not at all.
)",
    .run = install};

inline constexpr Verb kRun{
    .name = "run",
    .summary = "a worker of an MPI job: runs a command, and what peers of the job ask for",
    .help = R"(usage: muster-agent run [-- COMMAND [ARGUMENT…]]

Runs COMMAND in its place: environment, directory, signals, terminal and exit code are the command's own.
Meanwhile peers that hold the key of the job may start processes here, with the same environment, directory
and user; they end with the connection of the peer, and with COMMAND. Without COMMAND: until SIGTERM.

Environment:
  MUSTER_MPI_KEY    file with the job's key, 64 hexadecimal digits; default: /muster/key/key
  MUSTER_MPI_PORT   where peers ask; default: 8122
)",
    .run = run};

inline constexpr Verb kRsh{
    .name = "rsh",
    .summary = "starts a command in another pod of the MPI job; Open MPI's plm_rsh_agent",
    .help = R"(usage: muster-agent rsh HOST COMMAND [WORD…]

Runs the words, with blanks between them, as one line of sh in the container of HOST that runs
`muster-agent run`. Gives what it prints and its exit code; 255 when HOST cannot be asked. When this program
ends, so does the command. HOST itself is asked until it answers. On HOST itself the line simply runs.

Environment: as of `run`, and
  MUSTER_MPI_SERVICE   a HOST without a dot is looked up as HOST.$MUSTER_MPI_SERVICE
  MUSTER_MPI_WAIT      seconds to wait for HOST, 0: without end; default: 300
)",
    .run = rsh,
    .failure = 255};

inline constexpr Verb kHosts{
    .name = "hosts",
    .summary = "writes the host file of an MPI job and waits until its hosts answer",
    .help = R"(usage: muster-agent hosts --from FILE --to FILE [--append LINE]

Waits until the agent of every host in the host file --from answers, says meanwhile for whom it waits, and
writes its lines to --to, with LINE after them.

Environment: as of `rsh`; MUSTER_MPI_WAIT is without end by default.
)",
    .run = hosts};

inline constexpr Verb kLaunch{
    .name = "launch",
    .summary = "waits until all hosts of an MPI job answer, then runs mpirun",
    .help = R"(usage: muster-agent launch --hostfile FILE -- COMMAND [ARGUMENT…]

Waits until the agent of every host in FILE answers, says meanwhile for whom it waits, prints
"services are ready!", then runs COMMAND in its place: environment, directory, signals, terminal and exit
code are the command's own. Where OMPI_MCA_plm_rsh_agent is ssh, it waits for sshd instead.

Environment: as of `rsh`; MUSTER_MPI_WAIT is without end by default; with ssh
  MUSTER_SSH_PORT      where sshd listens; default: 22
)",
    .run = launch};

inline constexpr Verb kRank{
    .name = "rank",
    .summary =
        "runs one rank and tells the launcher's container how it ended; Open MPI's orte_fork_agent",
    .help = R"(usage: muster-agent rank PROGRAM [ARGUMENT…]

Runs PROGRAM and ends as it does. The agent in the launcher's container is told that the rank began and how it
ended; it says in the container's termination message which hosts ran no rank and which ranks failed.
)",
    .run = rank};

inline constexpr Verb kSshd{
    .name = "sshd",
    .summary = "a worker of an MPI job that is to be reached by ssh: prepares and becomes sshd",
    .help = R"(usage: muster-agent sshd --sshd PROGRAM --auth DIRECTORY

Becomes `PROGRAM -D -e`, OpenSSH's server (7.8 or newer), with the job's host key and authorized keys from
DIRECTORY and no other way in. What is started over it has the environment of this container.

Environment:
  MUSTER_SSH_PORT   where it listens; default: 22
)",
    .run = sshd};

}  // namespace muster::agent::mpi
