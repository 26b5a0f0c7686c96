#include "dialects/t9k_mpi/job.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "dialects/t9k/values.h"

namespace muster::dialects::t9k_mpi {
namespace {

using t9k::is_on;
using t9k::words;

std::map<std::string, std::string> parameters(const json::Value& map) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : map.as_object()) out[key] = value.as_string();
  return out;
}

int read_count(const json::Value& value) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max() - 1;
  return static_cast<int>(std::clamp<std::int64_t>(value.as_int(1), 0, kMost));
}

// What the old fields say, in the words of mpirun.
std::vector<std::string> old_arguments(const json::Value& worker) {
  std::vector<std::string> out;
  if (worker["processesPerWorker"].is_null() && worker["processRecovery"].is_null()) return out;
  if (worker["processesPerWorker"].is_int()) {
    out = {"-N", fmt::to_string(worker["processesPerWorker"].as_int())};
  }
  if (is_on(worker["processRecovery"])) {
    out.insert(out.end(), {"--enable-recovery", "--max-restarts",
                           fmt::to_string(worker["processRecovery"]["limit"].as_int())});
  }
  out.emplace_back("--allow-run-as-root");
  return out;
}

void read_worker_layout(const json::Value& spec, Job& out) {
  const json::Value& worker = spec["worker"];
  out.worker = {.path = Path("spec.worker"), .spec = &worker};
  out.program = words(worker["cmd"]);
  out.mpi_args =
      worker["extraMPIArgs"].is_null() ? old_arguments(worker) : words(worker["extraMPIArgs"]);
  out.mca = parameters(spec["mca"]);
  out.mpi_home = spec["mpiHome"].as_string();
}

Restart read_restart(const json::Value& block) {
  const std::string& policy = block["policy"].as_string();
  Restart out{.policy = Restart::Policy::OnFailure, .limit = {}};
  if (policy == "Never") out.policy = Restart::Policy::Never;
  if (policy == "Always") out.policy = Restart::Policy::Always;
  if (block["limit"].is_int()) out.limit = block["limit"].as_int();
  // Nothing is said of Always without a limit: it is what the other layouts do.
  if (!out.limit && out.policy == Restart::Policy::OnFailure) out.limit = 0;
  if (out.limit == 0) out.policy = Restart::Policy::Never;
  if (out.policy == Restart::Policy::Never) out.limit.reset();
  return out;
}

void read_list_layout(const json::Value& spec, Job& out) {
  const json::Value& list = spec["replicaSpecs"];
  for (std::size_t i = 0; i < list.as_array().size(); ++i) {
    const std::string& type = list[i]["type"].as_string();
    if (type != kWorker && type != kLauncher) continue;
    RoleSpec& role = type == kWorker ? out.worker : out.launcher;
    if (role.spec != nullptr) continue;
    role = {.path = Path("spec.replicaSpecs")[i], .spec = &list[i]};
  }
  if (out.worker.spec != nullptr) {
    out.worker_restart = read_restart((*out.worker.spec)["restartPolicy"]);
  } else {
    static const json::Value nothing;
    out.worker = {.path = Path("spec.replicaSpecs"), .spec = &nothing};
  }
  if (out.launcher.spec != nullptr) {
    out.launcher_restart = read_restart((*out.launcher.spec)["restartPolicy"]);
  }
  const json::Value& config = spec["mpiConfig"];
  out.program = words(config["script"]);
  out.mpi_args = words(config["extraArgs"]);
  out.mca = parameters(config["mca"]);
  out.mpi_home = config["home"].as_string();
}

// Only who says where the keys are to be, or asks by the annotation, wants sshd.
std::optional<mpi::Sshd> read_sshd(const json::Value& job) {
  const json::Value& ssh = job["spec"]["ssh"];
  const json::Value& place =
      ssh["sshAuthMountPath"].is_null() ? ssh["authMountPath"] : ssh["sshAuthMountPath"];
  const bool by_field =
      !place.as_string().empty() && api::annotation_of(job, mpi::kRemoteStartAnnotation).empty();
  if (!by_field && !mpi::asks_for_sshd(job)) return std::nullopt;
  mpi::Sshd out;
  if (!ssh["sshdPath"].as_string().empty()) out.path = ssh["sshdPath"].as_string();
  if (!place.as_string().empty()) out.auth = place.as_string();
  return out;
}

// N of ppr:N:node
std::optional<std::int64_t> ranks_per_node(std::string_view word) {
  const auto parts = split(word, ':');
  for (std::size_t i = 0; i + 2 < parts.size(); ++i) {
    if (parts[i] == "ppr" && parts[i + 2].starts_with("node")) return parse_int(parts[i + 1]);
  }
  return std::nullopt;
}

std::optional<std::int64_t> slots_in(const std::vector<std::string>& args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const bool counts = args[i] == "-N" || args[i] == "-npernode" || args[i] == "--npernode";
    if (counts && i + 1 < args.size()) return parse_int(args[i + 1]);
    if (const auto found = ranks_per_node(args[i])) return found;
  }
  return std::nullopt;
}

}  // namespace

std::string Job::worker_name(int index) const {
  return fmt::format("{}-worker-{}", ref.name, index);
}

std::optional<std::size_t> Job::main_container() const {
  const json::Array& containers = worker.pod()["spec"]["containers"].as_array();
  const bool by_list = layout == Layout::Replicas;
  for (const std::string_view name : {by_list ? kMainContainerOfList : kMainContainer,
                                      by_list ? kMainContainer : kMainContainerOfList}) {
    for (std::size_t i = 0; i < containers.size(); ++i) {
      if (containers[i]["name"].as_string() == name) return i;
    }
  }
  return std::nullopt;
}

int Job::slots() const {
  constexpr std::int64_t kMost = 100'000;
  if (const auto told = slots_in(mpi_args)) {
    return static_cast<int>(std::clamp<std::int64_t>(*told, 1, kMost));
  }
  const auto main = main_container();
  return main ? mpi::slots_by_gpu(worker.pod()["spec"]["containers"][*main]) : 1;
}

std::string Job::run_key() const {
  if (run_mode.paused) return "paused";
  return fmt::format("worker={}{}", workers, run_mode.debug ? ",debug" : "");
}

Job decode(const api::Resource& resource, const json::Value& job) {
  const json::Value& spec = job["spec"];
  Job out{.object = &job, .ref = plan::job_ref(resource, job)};
  const bool by_list = !spec["replicaSpecs"].is_null() || !spec["mpiConfig"].is_null();
  out.layout = by_list ? Layout::Replicas : Layout::Worker;
  by_list ? read_list_layout(spec, out) : read_worker_layout(spec, out);
  out.workers = read_count((*out.worker.spec)["replicas"]);
  out.cleans_up_workers = spec["runPolicy"]["cleanUpWorkers"].as_bool();
  out.sshd = read_sshd(job);
  out.run_mode = t9k::read_run_mode(spec["runMode"]);
  out.scheduler = t9k::read_scheduler(spec["scheduler"]);
  return out;
}

}  // namespace muster::dialects::t9k_mpi
