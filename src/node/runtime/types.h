#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

// The plain values that the agent, the runtime and the shim exchange.
namespace muster::node {

// A volume, a file or a memory file system, as the container sees it.
struct Mount {
  enum class Kind { Bind, Tmpfs };
  Kind kind = Kind::Bind;
  // On the host, without links: a directory or a file that exists. Unused for Tmpfs.
  std::string source;
  // What of it, when that may be changed by others meanwhile: looked up when it is mounted, and
  // never outside of `source`.
  std::string below;
  std::string
      target;  // absolute, inside the container; made in its upper layer where it is missing
  bool read_only = false;
  // Of a directory that is read-only: the container may write there, into a layer of its own that
  // goes with it. Read-only all the same where that cannot be done.
  bool copy_on_write = false;
  std::uint64_t size = 0;  // Tmpfs: bytes, 0: no bound of its own
};

// Caps are hard; shares only count when the machine is full. Nothing set: no bound.
struct ResourceLimits {
  std::optional<std::int64_t> cpu_milli;     // limit
  std::optional<std::int64_t> memory_bytes;  // limit; going over it is an OOM kill
  std::optional<std::int64_t> cpu_request_milli;
};

struct SandboxSpec {
  std::string pod_uid;  // identity, and the name of the pod's directory
  std::string pod_namespace;
  std::string pod_name;
  std::string hostname;
  bool host_network = false;
  // Pods with the same key share /dev/shm (the ranks of one job); empty: the pod has its own.
  std::string shm_key;
  // Bound read-only at /etc/hosts of every container. Rewrite it in place, never by rename.
  std::string hosts_file;
  ResourceLimits limits;  // of the whole pod
  bool host_ipc = false;
  std::vector<std::pair<std::string, std::string>> sysctls;  // of the pod's own namespaces
};

struct Sandbox {
  std::string pod_uid;
  std::string address;  // of the pod; the host's first address for host_network
  std::string gateway;  // the host's end of the bridge; empty for host_network
};

// What a container's `/` is. Always copy-on-write: no write reaches the lower directories.
struct RootFilesystem {
  enum class Kind {
    Host,           // the machine as it is, other file systems read-only
    Directory,      // only `directory`
    DirectoryOver,  // `directory` laid over the machine
  };
  Kind kind = Kind::Host;
  std::string directory;
};

struct ContainerSpec {
  std::string name;
  int attempt = 0;                // restart count; a name and an attempt run at most once, ever
  std::vector<std::string> argv;  // argv[0] is looked up in the PATH of `env`, inside the container
  std::vector<std::pair<std::string, std::string>> env;
  std::string cwd = "/";  // made if it is missing
  RootFilesystem root;
  std::vector<Mount> mounts;  // in this order
  ResourceLimits limits;
  std::string termination_message_path = "/dev/termination-log";  // empty: none
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::vector<std::uint32_t> supplementary_groups;
  bool no_new_privileges = false;
  std::optional<std::uint64_t> capabilities;  // by bit; empty: the usual ones of container runtimes
  bool privileged = false;                    // every right and device, nothing masked
  bool read_only_root = false;
  bool unmasked_proc = false;
  enum class Seccomp { Unconfined, RuntimeDefault };
  Seccomp seccomp = Seccomp::Unconfined;
  std::vector<std::string> devices;  // files of the machine that were assigned to it
};

// Where and when a container's process runs. The pid is the machine's, not the pod's.
struct ContainerStart {
  int pid = 0;
  Time started{};
  std::string log_path;
};

struct ContainerExit {
  int exit_code = 0;  // 128 + signal for one that was killed
  int signal = 0;
  bool oom_killed = false;
  // The machine or the shim died with it: it is gone for certain, but nobody saw how. Exit code
  // 137.
  bool unknown = false;
  Time started{};
  Time finished{};
  std::string termination_message;  // at most 4096 bytes of its file
};

struct ExecResult {
  int exit_code = 0;
  bool timed_out = false;
  std::string output;  // the last 10 KiB of stdout and stderr
};

// A program to be run inside a running container, with its streams held from outside.
struct SessionSpec {
  std::string container;
  std::vector<std::string> argv;
  bool terminal = false;  // then input and output are that
  bool input = false;
  bool output = false;
  bool error = false;
};

// What a probe asks of a web server.
struct HttpCheck {
  std::string address;
  std::uint16_t port = 0;
  std::string path;  // empty: /
  std::vector<std::pair<std::string, std::string>> headers;
};

// One port of a service. No endpoints: connections are refused.
struct ServiceRule {
  enum class Protocol { Tcp, Udp };
  Protocol protocol = Protocol::Tcp;
  std::string cluster_ip;
  std::uint16_t port = 0;
  struct Endpoint {
    std::string address;
    std::uint16_t port = 0;
    friend bool operator==(const Endpoint&, const Endpoint&) = default;
  };
  std::vector<Endpoint> endpoints;  // new connections take turns
  friend bool operator==(const ServiceRule&, const ServiceRule&) = default;
};

// A container as an earlier Muster left it: running when `exit` is empty.
struct AdoptedContainer {
  std::string name;
  int attempt = 0;
  ContainerStart start;
  std::optional<ContainerExit> exit;
};

struct AdoptedSandbox {
  Sandbox sandbox;
  std::string pod_namespace;
  std::string pod_name;
  // False: nothing of it runs any more. create_sandbox() gives it a new life under the same uid and
  // keeps its records; remove_sandbox() clears it away.
  bool alive = false;
  // Why nothing can be said of it although its shim lives; empty: everything is known. It may run:
  // it is only ever removed.
  std::string unknown;
  std::vector<AdoptedContainer> containers;  // by name, then attempt
};

// The link that all pods are on, and the machine's address there.
struct Bridge {
  std::string device;
  std::string address;
};

// How the file system stands that pods write to: what a process may still take of it.
struct DiskSpace {
  std::int64_t total = 0;
  std::int64_t available = 0;
  std::int64_t files = 0;  // that it can hold; 0: as many as there is room for
  std::int64_t free_files = 0;
};

// Why a container did not start, for its status.
enum class StartFailure {
  NotFound,       // 127: no such program
  NotExecutable,  // 126: it is there, but cannot be executed
  Configuration,  // a mount, a directory or a user that does not work: CreateContainerConfigError
};

// Either it runs (or ran: a second start of the same attempt gives the first one's answer) or why
// not.
struct StartOutcome {
  std::optional<ContainerStart> start;
  StartFailure failure = StartFailure::Configuration;
  std::string message;  // of the failure
};

}  // namespace muster::node
