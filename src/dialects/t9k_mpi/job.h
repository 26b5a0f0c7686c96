#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/check/findings.h"
#include "dialects/mpi/setup.h"
#include "dialects/t9k/run_mode.h"
#include "dialects/t9k/scheduler.h"
#include "json/value.h"
#include "plan/plan.h"

// An MPIJob as it was meant, whichever of its three layouts it was written in. In memory only.
namespace muster::dialects::t9k_mpi {

inline constexpr std::string_view kLauncher = "launcher";
inline constexpr std::string_view kWorker = "worker";
// The container in which ranks run has either name.
inline constexpr std::string_view kMainContainer = "mpi-worker";
inline constexpr std::string_view kMainContainerOfList = "worker";

// Where roles, program and Open MPI are written.
enum class Layout {
  Worker,    // spec.worker, spec.mca, spec.mpiHome
  Replicas,  // spec.replicaSpecs, spec.mpiConfig
};

// What happens to a pod of the role that failed.
struct Restart {
  enum class Policy { Never, OnFailure, Always };
  Policy policy = Policy::Never;
  std::optional<std::int64_t> limit;  // none: as often as it takes

  friend bool operator==(const Restart&, const Restart&) = default;
};

// Where a role is written. Lives no longer than the job it was decoded from, as all of Job.
struct RoleSpec {
  Path path;
  const json::Value* spec = nullptr;  // none: the role is derived

  [[nodiscard]] const json::Value& pod() const { return (*spec)["template"]; }
};

struct Job {
  const json::Value* object = nullptr;
  plan::JobRef ref;
  Layout layout = Layout::Worker;
  RoleSpec worker;
  RoleSpec launcher;
  int workers = 1;
  Restart worker_restart{.policy = Restart::Policy::Always, .limit = {}};
  Restart launcher_restart;
  std::vector<std::string> program;
  std::vector<std::string> mpi_args;
  std::map<std::string, std::string> mca;
  std::string mpi_home;
  bool cleans_up_workers = false;
  std::optional<mpi::Sshd> sshd;  // none: the agent starts ranks
  t9k::RunMode run_mode;
  std::optional<t9k::Scheduler> scheduler;

  [[nodiscard]] const json::Value& spec() const { return (*object)["spec"]; }
  [[nodiscard]] int total() const { return workers + 1; }
  [[nodiscard]] std::string service() const { return ref.name + "-worker"; }
  [[nodiscard]] std::string launcher_name() const { return ref.name + "-launcher"; }
  [[nodiscard]] std::string worker_name(int index) const;
  // Of the worker's containers the one in which ranks run; nothing when there is none.
  [[nodiscard]] std::optional<std::size_t> main_container() const;
  // How many ranks a host takes: what the arguments of mpirun say of it, or its GPUs, or 1.
  [[nodiscard]] int slots() const;
  // Whom every rank is told of. Who was told something else cannot take part, so another text means
  // another run.
  [[nodiscard]] std::string run_key() const;
};

// Total: what is not as it should be reads as its default. Validation is somewhere else.
Job decode(const api::Resource& resource, const json::Value& job);

}  // namespace muster::dialects::t9k_mpi
