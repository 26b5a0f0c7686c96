#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "node/runtime/network.h"
#include "node/runtime/nursery.h"
#include "node/runtime/pod_directory.h"
#include "node/runtime/runtime.h"
#include "node/runtime/shim_client.h"
#include "node/shim/protocol.h"

namespace muster::node {

// Pods of this machine: a shim for each, which outlives us. What is known here can be read again
// from the pods' directories, so nothing is lost with us. Lives on the agent's loop; file work goes
// to the pool. Ends with close().
class LinuxRuntime final : public Runtime {
 public:
  LinuxRuntime(rt::RealLoop& loop, rt::Pool& pool, RuntimeOptions options, Network network,
               linux::CgroupRoots cgroups, Fd home_lock, std::string home_key)
      : loop_(loop),
        pool_(pool),
        options_(std::move(options)),
        network_(std::move(network)),
        cgroups_(std::move(cgroups)),
        home_lock_(std::move(home_lock)),
        home_key_(std::move(home_key)),
        nursery_(std::make_shared<Nursery>(Nursery::Options{.program = options_.shim_path,
                                                            .home_key = home_key_,
                                                            .open_files = options_.open_files})) {}

  Task<Result<std::vector<AdoptedSandbox>>> adopt() override;
  Task<Result<Sandbox>> create_sandbox(SandboxSpec spec, std::vector<ServiceRule> rules) override;
  Task<Result<StartOutcome>> start_container(std::string pod_uid, ContainerSpec spec) override;
  Task<Result<ContainerExit>> wait_container(std::string pod_uid, std::string name,
                                             int attempt) override;
  Task<std::int64_t> count_written(std::string pod_uid, std::string name, int attempt,
                                   std::string directory) override;
  Task<Result<void>> discard_written(std::string pod_uid, std::string name, int attempt) override;
  Task<std::map<std::string, linux::DiskUse>> disk_use(std::string pod_uid) override;
  Task<Result<DiskSpace>> disk_space() override;
  Task<Result<void>> signal_container(std::string pod_uid, std::string name, int attempt,
                                      int signal) override;
  Task<Result<void>> kill_container(std::string pod_uid, std::string name, int attempt) override;
  Task<Result<ExecResult>> exec(std::string pod_uid, std::string name,
                                std::vector<std::string> argv, Duration limit) override;
  Task<Result<std::unique_ptr<rt::RemoteProgram>>> open_session(std::string pod_uid,
                                                                SessionSpec spec) override;
  Task<Result<void>> set_services(std::string pod_uid, std::vector<ServiceRule> rules) override;
  Task<Result<void>> kill_sandbox(std::string pod_uid) override;
  Task<Result<void>> remove_sandbox(std::string pod_uid) override;
  Task<Result<bool>> tcp_check(std::string address, std::uint16_t port, Duration limit) override;
  Task<Result<int>> http_check(HttpCheck check, Duration limit) override;
  [[nodiscard]] Bridge bridge() const override {
    return {.device = network_.bridge(), .address = network_.gateway()};
  }
  [[nodiscard]] std::string log_path(const std::string& pod_namespace, const std::string& pod_name,
                                     const std::string& pod_uid, const std::string& container,
                                     int attempt) const override;
  Task<void> close() override;

 private:
  struct Known {
    shim::SandboxRecord record;
    std::string directory;
    int shim_version = shim::kWireVersion;
    // Its record cannot be read: of the record only address and link are known, if at all.
    bool unknown = false;
    // Its shim is of this Muster, and so knows all that we may ask.
    bool ours = false;
    // Who was started, and whose end nobody asked for yet.
    std::map<shim::ContainerId, ShimQuestion> started;
  };

  // Runs blocking work on the pool.
  template <class Work>
  auto off_loop(Work work) -> Task<decltype(work())> {
    auto outcome = co_await pool_.run(loop_, std::move(work));
    if (!outcome) co_return fail(outcome.error());
    co_return std::move(*outcome);
  }
  Task<Result<ShimQuestion>> put_question(std::string pod_uid, std::string request);
  Task<Result<std::string>> ask(std::string pod_uid, std::string request);
  Task<Result<void>> ask_nothing(std::string pod_uid, std::string request);
  void know(const FoundPod& pod);
  Task<Result<AdoptedSandbox>> adopt_one(FoundPod pod);
  // Waits for a shim that was started just before Muster died and may not listen yet. Gone: there
  // is none any more.
  Task<Result<std::vector<AdoptedContainer>>> list_containers(std::string pod_uid);
  // Everything that can still be found out about it.
  Task<void> look_at_unknown(std::string pod_uid);
  // Whether its shim is a new one, which has the rules.
  Task<Result<bool>> spawn(std::string pod_uid, std::vector<ServiceRule> rules);
  // After the death of its shim. Conflict when it has one.
  Task<Result<void>> bury_pod(std::string pod_uid);
  Task<Result<void>> shut_down(std::string pod_uid);
  // Makes sure that shim and link are gone.
  Task<Result<void>> end_shim(std::string pod_uid);
  Task<Result<void>> end_unknown(std::string pod_uid);
  Task<Result<ContainerExit>> exit_on_record(std::string pod_uid, std::string name, int attempt);
  Result<shim::SandboxRecord> make_record(SandboxSpec spec);
  [[nodiscard]] std::string pod_directory(const std::string& pod_uid) const;
  [[nodiscard]] std::string layers_of(const std::string& pod_uid,
                                      const shim::ContainerId& container) const;
  [[nodiscard]] std::string log_directory(const std::string& pod_namespace,
                                          const std::string& pod_name,
                                          const std::string& pod_uid) const;
  [[nodiscard]] std::string shm_prefix() const { return "/dev/shm/muster-" + home_key_ + "-"; }
  // The directory under a new name, to be removed; empty while a pod uses it.
  [[nodiscard]] std::string retire_shm(const std::string& directory) const;
  [[nodiscard]] std::string link_of(const std::string& pod_uid) const;
  [[nodiscard]] bool any_unknown() const;
  // What a Muster that was killed during a removal left.
  Task<Result<void>> sweep_shm();

  rt::RealLoop& loop_;
  rt::Pool& pool_;
  RuntimeOptions options_;
  Network network_;
  linux::CgroupRoots cgroups_;
  Fd home_lock_;
  std::string home_key_;
  std::shared_ptr<Nursery> nursery_;  // shared with work on the pool
  std::map<std::string, Known> pods_;
  int births_ = 0;
};

}  // namespace muster::node
