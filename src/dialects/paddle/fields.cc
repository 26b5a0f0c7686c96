#include "dialects/paddle/fields.h"

#include <array>

#include <fmt/format.h>

#include "dialects/check/job_fields.h"
#include "dialects/check/scheduling.h"
#include "dialects/paddle/job.h"
#include "dialects/paddle/rules.h"

namespace muster::dialects::paddle {
namespace {

constexpr auto kSpec = std::to_array<Field>({
    {.path = "cleanPodPolicy",
     .type = Type::String,
     .allowed = "|Always|Never|OnFailure|OnCompletion",
     .doc = "When pods and Services are deleted after the end: Always, Never, OnFailure (of the "
            "job) or OnCompletion. Empty means OnCompletion. Servers and heter pods that run when "
            "the job has completed are stopped in any case."},
    {.path = "intranet",
     .type = Type::String,
     .allowed = "|PodIP|Service|Host",
     .doc = "How pods reach each other: PodIP (default), Service (by name, at port 36000) or Host "
            "(the network of their nodes)."},
    {.path = "withGloo",
     .type = Type::Int32,
     .minimum = 0,
     .maximum = 2,
     .doc = "Barriers by gloo: 0 none, 1 among workers, 2 among workers and servers. Only of jobs "
            "with servers."},
    {.path = "elastic",
     .type = Type::Int32,
     .doc = "Any number, also 0, makes the job elastic: workers come and go while the others go "
            "on, and find each other through the etcd that PADDLE_ELASTIC_SERVER names."},
});

constexpr auto kRole = std::to_array<Field>({
    {.path = "", .type = Type::Object},
    {.path = "replicas",
     .type = Type::Int32,
     .required = true,
     .minimum = 0,
     .maximum = kMostPods,
     .doc = "Number of pods; 0 is as if the role were not there."},
    {.path = "requests", .type = Type::Int32, .doc = "Accepted; means nothing."},
    {.path = "limits", .type = Type::Int32, .doc = "Accepted; means nothing."},
    {.path = "template",
     .type = Type::Open,
     .doc = "The pod template; every field that Kubernetes knows may stand in it. The first "
            "container is the one that trains."},
});

constexpr std::array<std::string_view, 3> kRoleDocs = {
    "Parameter servers. With them the mode of the job is PS.",
    "Workers, which train. The job has completed when all of them have succeeded.",
    "Heterogeneous workers, which compute for the others."};

constexpr auto kStatus = std::to_array<Field>({
    {.path = "phase",
     .type = Type::String,
     .doc = "Pending, Starting, Running, Completed, Failed, Suspended or Terminating."},
    {.path = "mode", .type = Type::String, .doc = "PS, Collective or Single."},
    {.path = "startTime", .type = Type::Time, .doc = "When all pods ran for the first time."},
    {.path = "completionTime", .type = Type::Time, .doc = "When the job ended."},
    {.path = "observedGeneration",
     .type = Type::Int64,
     .doc = "Which generation of the spec this status is of."},
});

constexpr auto kRoleStatus = std::to_array<Field>({
    {.path = "", .type = Type::Object, .doc = "Pods of one role."},
    {.path = "pending", .type = Type::Int32, .doc = "Pods without an address."},
    {.path = "starting",
     .type = Type::Int32,
     .doc = "Pods with an address, of which not all containers run: they wait for the others."},
    {.path = "running", .type = Type::Int32, .doc = "Pods of which all containers run."},
    {.path = "failed", .type = Type::Int32, .doc = "Pods that failed."},
    {.path = "succeeded", .type = Type::Int32, .doc = "Pods that succeeded."},
    {.path = "unknown", .type = Type::Int32, .doc = "Pods of whose node nobody has heard."},
    {.path = "refs", .type = Type::List, .doc = "The pods; of a large role the first 500."},
    {.path = "refs[]", .type = Type::Open, .doc = "One pod: kind, namespace, name and uid."},
});

Field with_doc(Field field, std::string_view doc) {
  field.doc = doc;
  return field;
}

// How many pods a role asks for; `replicas` is required where the role is there.
std::string count_of(std::string_view role) {
  return fmt::format("(has(self.{0}) ? self.{0}.replicas : 0)", role);
}

std::string total() {
  return fmt::format("{} + {} + {}", count_of(kServer), count_of(kWorker), count_of(kHeter));
}

std::vector<CelRule> cel_rules() {
  return {{.at = "spec",
           .rule = fmt::format("{} > 0", total()),
           .message = std::string(kNeedsARole),
           .reason = "FieldValueRequired"},
          {.at = "spec",
           .rule = fmt::format("{} <= {}", total(), kMostPods),
           .message = fmt::format("asks for too many pods; at most {} are allowed", kMostPods)},
          {.at = "spec",
           .rule = fmt::format("!has(self.elastic) || {} > 0", count_of(kWorker)),
           .message = fmt::format("elastic: {}", kElasticNeedsWorkers)},
          {.at = "spec",
           .rule = fmt::format("!has(self.schedulingPolicy) || "
                               "!has(self.schedulingPolicy.minAvailable) || "
                               "self.schedulingPolicy.minAvailable <= {}",
                               total()),
           .message = "schedulingPolicy.minAvailable must be at most the number of pods of the "
                      "job"}};
}

}  // namespace

FieldTable job_fields() {
  FieldTable table(object_fields());
  table.add("spec", kSpec);
  table.add("spec.schedulingPolicy", scheduling_fields());
  for (std::size_t i = 0; i < kRoles.size(); ++i) {
    const std::string path = fmt::format("spec.{}", kRoles.at(i));
    table.add(path, kRole);
    table.add(path, std::array{with_doc(kRole[0], kRoleDocs.at(i))});
  }
  return table;
}

json::Value schema() {
  std::vector<std::string> roles;
  FieldTable table = job_fields();
  for (const std::string_view role : kRoles) {
    roles.push_back(fmt::format("spec.{}", role));
    table.add(fmt::format("status.{}", role), kRoleStatus);
  }
  return job_schema(std::move(table),
                    "A distributed PaddlePaddle training job, made of parameter servers, workers "
                    "and heterogeneous workers.",
                    roles, kStatus, cel_rules());
}

}  // namespace muster::dialects::paddle
