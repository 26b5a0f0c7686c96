#include "dialects/chainer/fields.h"

#include <array>

#include <fmt/format.h>

#include "dialects/check/job_fields.h"
#include "dialects/check/pod_template.h"

namespace muster::dialects::chainer {
namespace {

constexpr auto kSpec = std::to_array<Field>({
    {.path = "backend",
     .type = Type::String,
     .fallback = "mpi",
     .doc = "How ranks reach each other: mpi. Means nothing without workers."},
    {.path = "workerSets",
     .type = Type::Map,
     .maximum = 1000,
     .keys = Format::DnsLabel,
     .doc = "Sets of workers, by name; none: the master trains alone. Example: {ws0: {replicas: 2, "
            "template: …}}"},
});

constexpr auto kMaster = std::to_array<Field>({
    {.path = "",
     .type = Type::Object,
     .required = true,
     .hint = "its pod trains alone, or runs mpiexec",
     .doc = "The pod that starts the ranks and decides how the job ends. One that failed is "
            "followed by another."},
    {.path = "activeDeadlineSeconds",
     .type = Type::Int64,
     .minimum = 0,
     .doc = "Seconds after status.startTime at which a job that still runs fails."},
    {.path = "backoffLimit",
     .type = Type::Int32,
     .fallback = "6",
     .minimum = 0,
     .doc = "How many masters may fail before the job does."},
});

constexpr auto kWorkerSet = std::to_array<Field>({
    {.path = "", .type = Type::Object, .doc = "Workers that are alike."},
    {.path = "replicas",
     .type = Type::Int32,
     .fallback = "1",
     .minimum = 0,
     .maximum = kMostPods,
     .doc = "Number of workers."},
});

// Of the master and of sets.
constexpr auto kRole = std::to_array<Field>({
    {.path = "mpiConfig", .type = Type::Object, .doc = "What Open MPI is told of a pod."},
    {.path = "mpiConfig.slots",
     .type = Type::Int32,
     .minimum = 1,
     .maximum = 65536,
     .doc = "Ranks in one pod; by default the limit of nvidia.com/gpu of its container chainer, or "
            "1."},
    {.path = "template",
     .type = Type::Open,
     .doc = "The pod template, with a container named chainer; every field that Kubernetes knows "
            "may stand in it."},
});

constexpr Field kMasterRestart{.path = "spec.restartPolicy",
                               .type = Type::String,
                               .fallback = "Never",
                               .allowed = "|Never|OnFailure",
                               .hint = "a master that is always started again never ends",
                               .doc =
                                   "Never: another try is another pod. OnFailure: the container "
                                   "is started again in its pod."};
constexpr Field kWorkerRestart{.path = "spec.restartPolicy",
                               .type = Type::String,
                               .fallback = "Always",
                               .allowed = "|Always",
                               .hint = "workers are started again until the master ends",
                               .doc = "Always."};

constexpr auto kStatus = std::to_array<Field>({
    {.path = "", .type = Type::Open, .doc = "What became of the job; written by Muster."},
    {.path = "active", .type = Type::Int32, .doc = "Masters that run or wait to: 1, or absent."},
    {.path = "succeeded", .type = Type::Int32, .doc = "Masters that succeeded: 1, or absent."},
    {.path = "failed", .type = Type::Int32, .doc = "Masters that failed."},
    {.path = "startTime", .type = Type::Time, .doc = "When the job started, or was resumed."},
    {.path = "completionTime", .type = Type::Time, .doc = "When it succeeded."},
    {.path = "conditions",
     .type = Type::List,
     .doc = "Complete or Failed once it has ended; Suspended if it ever was."},
    {.path = "conditions[]", .type = Type::Open, .doc = "One condition."},
    {.path = "conditions[].type", .type = Type::String, .required = true, .doc = "Which."},
    {.path = "conditions[].status",
     .type = Type::String,
     .required = true,
     .doc = "True or False."},
});

constexpr std::array<std::string_view, 2> kSetPaths = {"spec.workerSets.*", "spec.worker"};

std::vector<CelRule> cel_rules() {
  return {
      {.at = "spec",
       .rule = "(!has(self.worker) && (!has(self.workerSets) || size(self.workerSets) == 0)) || "
               "!has(self.backend) || self.backend in ['', 'mpi']",
       .message = "backend is not supported; use mpi"},
      {.at = "spec",
       .rule = "!has(self.worker) || !has(self.workerSets) || !('worker' in self.workerSets)",
       .message = "worker is the same set as workerSets.worker; keep one of the two"},
      {.at = "spec",
       .rule = "has(self.worker) || !has(self.workerSets) || size(self.workerSets) == 0 || "
               "self.workerSets.exists(name, self.workerSets[name] == null || "
               "!has(self.workerSets[name].replicas) || "
               "self.workerSets[name].replicas > 0)",
       .message = "workerSets have no worker; leave them out for a master that trains alone"},
      {.at = "spec",
       .rule = "!has(self.workerSets) || self.workerSets.all(name, self.workerSets[name] != null)",
       .message = "workerSets has an empty set; a set has at least a template"}};
}

FieldTable pod_fields(const Field& restart_policy) {
  FieldTable table(pod_template_fields());
  table.add("", std::array{restart_policy});
  return table;
}

}  // namespace

FieldTable job_fields() {
  FieldTable table(object_fields());
  table.add("spec", kSpec);
  table.add("spec.master", kMaster);
  table.add("spec.master", kRole);
  for (const std::string_view set : kSetPaths) {
    table.add(set, kWorkerSet);
    table.add(set, kRole);
  }
  return table;
}

FieldTable master_pod_fields() {
  return pod_fields(kMasterRestart);
}

FieldTable worker_pod_fields() {
  return pod_fields(kWorkerRestart);
}

// The original's definition had no schema: nothing that anybody wrote may be dropped. A job is
// checked against a table that knows what it does not know.
json::Value schema() {
  FieldTable table = job_fields();
  std::vector<std::string> roles{"spec.master"};
  for (const std::string_view set : kSetPaths) roles.emplace_back(set);
  for (const std::string& role : roles) {
    table.add(role + ".template",
              std::array{role == "spec.master" ? kMasterRestart : kWorkerRestart});
    Field known = role == "spec.master" ? kMaster[0] : kWorkerSet[0];
    known.type = Type::Open;
    known.nullable = role == kSetPaths[0];  // servers drop null, and the job would train alone
    table.add(role, std::array{known});
    known = kRole[0];
    known.type = Type::Open;
    table.add(role, std::array{known});
  }
  table.add("",
            std::array{Field{
                .path = "spec", .type = Type::Open, .required = true, .doc = "What is to run."}});
  return job_schema(std::move(table),
                    "A Chainer training job: a master, and sets of workers for the ranks that it "
                    "starts.",
                    roles, kStatus, cel_rules());
}

}  // namespace muster::dialects::chainer
