#include "dialects/chainer/rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "dialects/check/job_fields.h"
#include "dialects/check/job_rules.h"
#include "dialects/check/messages.h"
#include "dialects/mpi/rules.h"

namespace muster::dialects::chainer {
namespace {

void check_backend(const Job& job, Findings& findings) {
  const json::Value& backend = job.spec()["backend"];
  if (!job.is_distributed() || !backend.is_string()) return;
  if (backend == "" || backend == "mpi") return;
  findings.refuse(Path("spec.backend"), rules::kBackend,
                  fmt::format("backend:{} not supported; use mpi", shown(backend)));
}

// What is not was refused by the table.
bool has_good_size(const json::Value& set) {
  const json::Value& replicas = set["replicas"];
  return replicas.is_null() || (replicas.is_int() && replicas.as_int() >= 0);
}

void check_sets(const Job& job, Findings& findings) {
  const json::Value& sets = job.spec()["workerSets"];
  bool all_readable = true;
  for (const auto& [name, set] : sets.as_object()) {
    all_readable = all_readable && set.is_object() && has_good_size(set);
    if (!set.is_null()) continue;
    findings.refuse(Path("spec.workerSets") / name, rules::kEmptySet,
                    "is empty; a set has at least a template");
  }
  if (job.spec()["worker"].is_object() && sets["worker"].is_object()) {
    findings.refuse(Path("spec.worker"), rules::kSameSet,
                    "is the same set as spec.workerSets.worker; keep one of the two");
    return;
  }
  all_readable = all_readable && has_good_size(job.spec()["worker"]);
  if (job.is_distributed() && all_readable && job.workers() == 0) {
    findings.refuse(Path("spec.workerSets"), rules::kSomeWorker,
                    "have no worker: the replicas of all are 0; leave the sets out for a master "
                    "that trains alone");
  }
}

void check_size(const Job& job, Findings& findings) {
  const bool too_many_of_one =
      std::ranges::any_of(job.sets, [](const WorkerSet& set) { return set.replicas > kMostPods; });
  if (!too_many_of_one) check_job_size(job.workers() + 1, Path("spec.workerSets"), findings);
}

// Pods carry the job's name in a label, also where it is no host name.
void check_name(const Job& job, Findings& findings) {
  std::vector<std::string> longest{job.ref.name};
  for (const WorkerSet& set : job.sets) {
    if (set.replicas > 0) longest.push_back(fmt::format("{}-{}", job.stem(set), set.replicas - 1));
  }
  check_job_name(*job.object,
                 job.is_distributed() ? "the workers' Service is named after the job" : "", longest,
                 findings);
}

void check_role(const json::Value& role, const Path& path, const FieldTable& pods,
                bool is_distributed, Findings& findings) {
  const bool has_containers = check_template(
      pods, role, path, fmt::format("the container named {} is the one that trains", kContainer),
      findings);
  if (!has_containers) return;
  const Path here = path / "template";
  if (is_distributed) {
    mpi::check_reserved(role["template"], here, {"chainer-operator-"},
                        {"/kubeflow/chainer-operator/"}, findings);
  }
  if (find_container(role)) return;
  std::vector<std::string> names;
  for (const json::Value& container : role["template"]["spec"]["containers"].as_array()) {
    // What has no name was refused for that.
    if (container["name"].as_string().empty()) return;
    names.push_back(in_quotes(container["name"].as_string()));
  }
  findings.refuse(here / "spec" / "containers", rules::kChainerContainer,
                  fmt::format("must have one named {}, found {}", kContainer, join(names, ", ")));
}

}  // namespace

void check_job(const Job& job, const FieldTable& masters, const FieldTable& workers,
               Findings& findings) {
  check_name(job, findings);
  check_backend(job, findings);
  check_sets(job, findings);
  check_size(job, findings);
  mpi::check_remote_start(*job.object, findings);
  if (!job.master().is_null())
    check_role(job.master(), Path("spec.master"), masters, job.is_distributed(), findings);
  for (const WorkerSet& set : job.sets) check_role(*set.spec, set.path, workers, true, findings);
}

}  // namespace muster::dialects::chainer
