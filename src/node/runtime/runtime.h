#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/time.h"
#include "node/linux/tree.h"
#include "node/runtime/types.h"
#include "rt/pool.h"
#include "rt/real_loop.h"
#include "rt/remote_program.h"
#include "rt/task.h"

// What the node agent asks of the machine: pods as namespaces, containers as processes in them. The
// agent decides, the runtime does. Everything here is idempotent by pod uid, container and attempt.
namespace muster::node {

// Lives on the agent's loop; every call may be made concurrently with every other, calls for one
// pod are carried out in order. A cancelled call may still take effect; repeat it or remove the
// sandbox.
class Runtime {
 public:
  virtual ~Runtime() = default;

  // What earlier Musters left in this home. To be called first, once.
  virtual Task<Result<std::vector<AdoptedSandbox>>> adopt() = 0;

  // Namespaces, address and cgroup of a pod, and the service rules that its network begins with. A
  // pod that has them keeps them, with these rules.
  virtual Task<Result<Sandbox>> create_sandbox(SandboxSpec spec,
                                               std::vector<ServiceRule> rules) = 0;
  // Returns once the program was executed, or with why it was not. An error says that the machine
  // failed us, and that nothing was started.
  virtual Task<Result<StartOutcome>> start_container(std::string pod_uid, ContainerSpec spec) = 0;
  // Waits for the end of the container and of all that it left behind. NotFound: never started.
  virtual Task<Result<ContainerExit>> wait_container(std::string pod_uid, std::string name,
                                                     int attempt) = 0;
  // How many files a container that has ended wrote below a directory of the host, outside of
  // volumes: they go with it. At most kMostCountedFiles; 0 where nothing is known.
  virtual Task<std::int64_t> count_written(std::string pod_uid, std::string name, int attempt,
                                           std::string directory) = 0;
  // Removes what a container that is over, or being killed, wrote outside of volumes.
  virtual Task<Result<void>> discard_written(std::string pod_uid, std::string name,
                                             int attempt) = 0;
  // What the pod's containers have on the disk, by name: layers and logs of all attempts.
  virtual Task<std::map<std::string, linux::DiskUse>> disk_use(std::string pod_uid) = 0;
  virtual Task<Result<DiskSpace>> disk_space() = 0;
  // Signals the container's first process. NotFound when it has ended.
  virtual Task<Result<void>> signal_container(std::string pod_uid, std::string name, int attempt,
                                              int signal) = 0;
  // SIGKILL for every process of the container; its end is then reported as usual.
  virtual Task<Result<void>> kill_container(std::string pod_uid, std::string name, int attempt) = 0;
  // Runs a program inside a running container. NotFound when it has ended.
  virtual Task<Result<ExecResult>> exec(std::string pod_uid, std::string name,
                                        std::vector<std::string> argv, Duration limit) = 0;
  // The same with its streams held from here. It ends when that is destroyed, or with us.
  virtual Task<Result<std::unique_ptr<rt::RemoteProgram>>> open_session(std::string pod_uid,
                                                                        SessionSpec spec) = 0;
  // Replaces all service rules of the pod at once. Does nothing for host_network.
  virtual Task<Result<void>> set_services(std::string pod_uid, std::vector<ServiceRule> rules) = 0;
  // Ends every process of the pod, at once. The exits can be waited for as usual.
  virtual Task<Result<void>> kill_sandbox(std::string pod_uid) = 0;
  // Ends it and leaves nothing but the logs. Success when there is no such pod.
  virtual Task<Result<void>> remove_sandbox(std::string pod_uid) = 0;

  // True when something accepts connections there.
  virtual Task<Result<bool>> tcp_check(std::string address, std::uint16_t port, Duration limit) = 0;
  // The status of the answer to a GET; an error says why there is none.
  virtual Task<Result<int>> http_check(HttpCheck check, Duration limit) = 0;

  // Where pods meet the machine.
  [[nodiscard]] virtual Bridge bridge() const = 0;

  // CRI format. When it reaches half the quota it becomes PATH.1 and a new one begins.
  [[nodiscard]] virtual std::string log_path(const std::string& pod_namespace,
                                             const std::string& pod_name,
                                             const std::string& pod_uid,
                                             const std::string& container, int attempt) const = 0;

  // The bridge and the routes go if no pod is left; pods that are left keep running without us.
  virtual Task<void> close() = 0;
};

struct RuntimeOptions {
  std::string home;       // $MUSTER_HOME; pods/ (their layers), logs/ and runtime/ in it are ours
  std::string shim_path;  // the muster-shim program
  // Every home takes one block of the pod range for its bridge, and remembers which. Both ranges
  // are closed on the host: what is not a pod's goes nowhere.
  std::string pod_range = "10.222.0.0/16";
  int pod_block = 22;  // prefix length: 1,021 pods
  std::string service_range = "10.96.0.0/16";
  // A container's; less on a small disk, see docs/operations.md.
  std::uint64_t log_quota_bytes = std::uint64_t{64} << 20U;
  std::uint64_t open_files = 0;  // that a pod's processes may have at first; 0: as we have
  Logger logger;
};

// What everything of a home on the machine is called by: its bridge, its cgroups, its memory.
std::string home_key(const std::string& home);
// In memory: what is known of its pods while the machine runs.
std::string state_directory(const std::string& home_key);

// The runtime of this machine. Forbidden, naming what is missing, where the rights for namespaces,
// overlay or bridge are lacking. Loop and pool outlive it.
Result<std::unique_ptr<Runtime>> create_runtime(rt::RealLoop& loop, rt::Pool& pool,
                                                RuntimeOptions options);

}  // namespace muster::node
