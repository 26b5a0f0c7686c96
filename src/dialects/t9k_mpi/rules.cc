#include "dialects/t9k_mpi/rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "dialects/check/job_rules.h"
#include "dialects/check/messages.h"
#include "dialects/check/pod_template.h"
#include "dialects/mpi/rules.h"
#include "dialects/t9k_mpi/launcher.h"

namespace muster::dialects::t9k_mpi {
namespace {

void check_layout(const Job& job, Findings& findings) {
  const json::Value& spec = job.spec();
  if (job.layout == Layout::Replicas) {
    for (const std::string_view field : {"worker", "mca", "mpiHome"}) {
      if (spec[field].is_null()) continue;
      findings.refuse(Path("spec") / field, rules::kOneLayout, std::string(kMixed));
    }
  }
  for (const std::string_view field : {"processesPerWorker", "processRecovery"}) {
    if (spec["worker"]["extraMPIArgs"].is_null() || spec["worker"][field].is_null()) continue;
    findings.refuse(Path("spec.worker") / field, rules::kOneLayout, std::string(kMixedArguments));
  }
}

void check_workers(const Job& job, Findings& findings) {
  if (job.layout == Layout::Worker) {
    if (job.spec()["worker"].is_null()) {
      findings.refuse(Path("spec.worker"), dialects::rules::kSomeRole, std::string(kNeedsWorkers));
    }
    return;
  }
  const Path path("spec.replicaSpecs");
  if (!job.spec()["replicaSpecs"].is_null() && !job.spec()["replicaSpecs"].is_array()) return;
  const json::Array& list = job.spec()["replicaSpecs"].as_array();
  const auto count = [&](std::string_view type) {
    return std::ranges::count_if(
        list, [&](const json::Value& role) { return role["type"].as_string() == type; });
  };
  if (count(kWorker) == 0) {
    findings.refuse(path, dialects::rules::kSomeRole, std::string(kNeedsWorkers));
  }
  for (const std::string_view type : {kWorker, kLauncher}) {
    if (count(type) < 2) continue;
    findings.refuse(path, dialects::rules::kUnique,
                    fmt::format("{} is there twice; keep one entry", type));
  }
  if (job.launcher.spec == nullptr) return;
  const json::Value& replicas = (*job.launcher.spec)["replicas"];
  if (replicas.is_int() && replicas.as_int() > 1) {
    findings.refuse(job.launcher.path / "replicas", rules::kOneLauncher,
                    fmt::format("{}, not {}", kOneLauncher, replicas.as_int()));
  }
}

void check_program(const Job& job, Findings& findings) {
  if (!job.program.empty() && !job.program.front().empty()) return;
  const bool by_list = job.layout == Layout::Replicas;
  const json::Value& worker = job.spec()["worker"];
  const json::Value& written = by_list ? job.spec()["mpiConfig"]["script"] : worker["cmd"];
  if (!written.is_null() && !written.is_array()) return;  // the table said so
  if (!by_list && !worker.is_object()) return;
  findings.refuse(Path(by_list ? "spec.mpiConfig.script" : "spec.worker.cmd"), rules::kProgram,
                  fmt::format("is required: {}", kNeedsAProgram));
}

void check_name(const Job& job, Findings& findings) {
  check_job_name(*job.object, "Services are named after the job",
                 {job.launcher_name(), job.worker_name(job.workers - 1)}, findings);
}

void check_places(const Job& job, Findings& findings) {
  const json::Value& ssh = job.spec()["ssh"];
  const json::Value& one = ssh["sshAuthMountPath"];
  const json::Value& other = ssh["authMountPath"];
  if (one.is_null() || other.is_null() || one == other) return;
  findings.refuse(Path("spec.ssh.authMountPath"), rules::kOnePlace,
                  fmt::format("is {}, and sshAuthMountPath {}: the two mean the same; keep one",
                              shown(other), shown(one)));
}

void check_reserved(const Job& job, const json::Value& pod, const Path& path, Findings& findings) {
  const std::string keys = job.sshd ? job.sshd->auth + "/" : std::string(kHostFileFolder) + "/";
  mpi::check_reserved(pod, path, {kHostFileVolume}, {std::string(kHostFileFolder) + "/", keys},
                      findings);
}

void check_worker_template(const Job& job, const FieldTable& pods, Findings& findings) {
  if (job.worker.spec->is_null()) return;
  const bool by_list = job.layout == Layout::Replicas;
  const std::string_view name = by_list ? kMainContainerOfList : kMainContainer;
  const bool has_containers =
      check_template(pods, *job.worker.spec, job.worker.path,
                     fmt::format("ranks run in the container {}", name), findings);
  const Path path = job.worker.path / "template";
  if (has_containers && !job.main_container()) {
    findings.refuse(path / "spec" / "containers", rules::kMainContainer,
                    fmt::format("none is named {}: ranks run in that one", name));
  }
  check_reserved(job, job.worker.pod(), path, findings);
}

// An empty one is a copy of the worker's; what is in it is checked as it will be.
void check_launcher_template(const Job& job, const FieldTable& pods, Findings& findings) {
  if (job.launcher.spec == nullptr || !job.main_container()) return;
  const json::Value& pod = job.launcher.pod();
  if (!pod.is_object() || pod["spec"]["containers"].as_array().empty()) return;
  const json::Value whole = json::Object{{"template", launcher_template(job)}};
  const Path path = job.launcher.path / "template";
  if (!check_template(pods, whole, job.launcher.path, "mpirun runs in it", findings)) return;
  const json::Array& containers = pod["spec"]["containers"].as_array();
  const bool named = std::ranges::any_of(containers, [](const json::Value& container) {
    return container["name"].as_string() == kLauncher;
  });
  if (!named) {
    findings.refuse(path / "spec" / "containers", rules::kMainContainer,
                    fmt::format("none is named {}: mpirun runs in that one", kLauncher));
  }
  check_reserved(job, pod, path, findings);
}

void warn(std::vector<plan::Warning>& out, std::string message) {
  out.push_back({.reason = "NotObeyed", .message = std::move(message)});
}

}  // namespace

void check_job(const Job& job, const FieldTable& pods, Findings& findings) {
  if (!job.spec().is_object()) return;
  check_name(job, findings);
  check_layout(job, findings);
  check_workers(job, findings);
  check_program(job, findings);
  check_places(job, findings);
  mpi::check_remote_start(*job.object, findings);
  t9k::check_run_mode(job.spec()["runMode"], Path("spec.runMode"), findings);
  check_worker_template(job, pods, findings);
  check_launcher_template(job, pods, findings);
}

std::vector<plan::Warning> warnings_of(const Job& job) {
  std::vector<plan::Warning> out;
  const auto& main = job.worker.pod()["spec"]["containers"][*job.main_container()];
  for (const std::string_view field : {"command", "args"}) {
    if (main[field].as_array().empty()) continue;
    warn(out, fmt::format("{} of the container {} is not used: it waits for the launcher, which "
                          "starts the program in it",
                          field, main["name"].as_string()));
  }
  if (job.launcher_restart.policy == Restart::Policy::Always) {
    warn(out,
         "restartPolicy of the launcher: Always is OnFailure, because a launcher that has "
         "succeeded has ended the job");
  }
  const t9k::RoleMode resumed = job.run_mode.resume_of(std::string(kWorker));
  if (resumed.command.empty() && !resumed.args.empty()) {
    warn(out, "runMode.pause.resumeSpecs: args of worker without a command are not used");
  }
  return out;
}

}  // namespace muster::dialects::t9k_mpi
