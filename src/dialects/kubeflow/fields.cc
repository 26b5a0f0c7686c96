#include "dialects/kubeflow/fields.h"

#include <array>

#include <fmt/format.h>

#include "dialects/check/job_fields.h"
#include "dialects/check/scheduling.h"
#include "dialects/kubeflow/cel.h"

namespace muster::dialects::kubeflow {
namespace {

constexpr auto kRunPolicy = std::to_array<Field>({
    {.path = "", .type = Type::Object, .doc = "Limits, clean-up and suspension."},
    {.path = "cleanPodPolicy",
     .type = Type::String,
     .allowed = "All|Running|None",
     .doc = "Which pods are deleted when the job has ended: All, Running (those not finished) or "
            "None."},
    {.path = "activeDeadlineSeconds",
     .type = Type::Int64,
     .minimum = 0,
     .doc = "Seconds after status.startTime at which a job that still runs is stopped and Failed; "
            "absent: no limit."},
    {.path = "backoffLimit",
     .type = Type::Int32,
     .minimum = 0,
     .doc = "The job fails when its containers were restarted, or its pods made anew, more often "
            "than this; absent: no limit."},
    {.path = "ttlSecondsAfterFinished",
     .type = Type::Int32,
     .minimum = 0,
     .doc = "Seconds after status.completionTime at which the job is deleted; absent: never."},
    {.path = "suspend",
     .type = Type::Bool,
     .fallback = "false",
     .doc = "True: the job has no pods until this is false again."},
    {.path = "managedBy",
     .type = Type::String,
     .doc = "Who runs the job: muster.dev/operator or absent is Muster; with any other name Muster "
            "leaves it alone. Cannot be changed."},
});

constexpr auto kReplicaSpec = std::to_array<Field>({
    {.path = "", .type = Type::Object, .doc = "One role of the job: pods of the same template."},
    {.path = "replicas",
     .type = Type::Int32,
     .fallback = "1",
     .minimum = 0,
     .maximum = kMostPods,
     .doc = "Number of pods of this role; 0 means none."},
    {.path = "template",
     .type = Type::Open,
     .doc = "The pod template; every field that Kubernetes knows may stand in it."},
});

constexpr auto kRolePolicy = std::to_array<Field>({
    {.path = "restartPolicy",
     .type = Type::String,
     .allowed = "|Always|OnFailure|Never|ExitCode",
     .doc =
         "What happens when a pod of this role fails. Always, OnFailure: its container is started "
         "again in place. Never: the job fails. ExitCode: on an exit code that asks for it a new "
         "pod is made, on any other the job fails. A pod that the cluster took away is made anew "
         "under all but Never."},
});

constexpr auto kStatus = std::to_array<Field>({
    {.path = "conditions",
     .type = Type::List,
     .required = true,
     .doc = "Created, Running, Restarting, Suspended, Finished, Succeeded, Failed; at most one of "
            "each. The last one is the current state. Finished comes with either end."},
    {.path = "conditions[]", .type = Type::Object, .doc = "One condition."},
    {.path = "conditions[].type", .type = Type::String, .required = true, .doc = "Which one."},
    {.path = "conditions[].status",
     .type = Type::String,
     .required = true,
     .doc = "True, False or Unknown."},
    {.path = "conditions[].reason", .type = Type::String, .doc = "Why, in one word."},
    {.path = "conditions[].message", .type = Type::String, .doc = "Why, in a sentence."},
    {.path = "conditions[].lastUpdateTime", .type = Type::Time, .doc = "When it was last written."},
    {.path = "conditions[].lastTransitionTime",
     .type = Type::Time,
     .doc = "When its status last changed."},
    {.path = "replicaStatuses", .type = Type::Map, .required = true, .doc = "Pods by role."},
    {.path = "replicaStatuses.*", .type = Type::Object, .doc = "Pods of one role."},
    {.path = "replicaStatuses.*.active", .type = Type::Int32, .doc = "Pods that run."},
    {.path = "replicaStatuses.*.succeeded", .type = Type::Int32, .doc = "Pods that succeeded."},
    {.path = "replicaStatuses.*.failed", .type = Type::Int32, .doc = "Pods that failed."},
    {.path = "replicaStatuses.*.labelSelector", .type = Type::Open, .doc = "Never written."},
    {.path = "replicaStatuses.*.selector", .type = Type::String, .doc = "Never written."},
    {.path = "startTime", .type = Type::Time, .doc = "When the job started, or was resumed."},
    {.path = "completionTime", .type = Type::Time, .doc = "When the job ended."},
    {.path = "lastReconcileTime", .type = Type::Time, .doc = "Never written."},
});

std::string each_replica_spec(const Kind& kind) {
  return fmt::format("spec.{}{}", kind.replicas.field, kind.replicas.is_list() ? "[]" : ".*");
}

std::string_view to_string(plan::CleanUp clean_up) {
  constexpr std::array<std::string_view, 3> kNames = {"None", "Running", "All"};
  return kNames.at(static_cast<std::size_t>(clean_up));
}

// A row that is the same for all kinds but for its default.
Field with_fallback(Field field, std::string_view fallback) {
  field.fallback = fallback;
  return field;
}

}  // namespace

FieldTable job_fields(const Kind& kind) {
  FieldTable table(object_fields());
  table.add("spec.runPolicy", kRunPolicy);
  table.add("spec.runPolicy.schedulingPolicy", scheduling_fields());
  table.add("spec.runPolicy", std::array{with_fallback(kRunPolicy[1], to_string(kind.clean_up))});
  const std::string each = each_replica_spec(kind);
  table.add(each, kReplicaSpec);
  if (!kind.restart_in_template) {
    table.add(each, std::array{with_fallback(kRolePolicy[0], to_string(kind.restart))});
  }
  table.add("", kind.fields);
  return table;
}

json::Value job_schema(const Kind& kind) {
  std::vector<Field> status(kStatus.begin(), kStatus.end());
  status.insert(status.end(), kind.status_fields.begin(), kind.status_fields.end());
  return dialects::job_schema(job_fields(kind), kind.doc, {each_replica_spec(kind)}, status,
                              cel_rules(kind));
}

}  // namespace muster::dialects::kubeflow
