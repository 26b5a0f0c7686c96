#include "dialects/kubeflow/fields.h"

#include <array>

#include <fmt/format.h>

#include "dialects/check/schema.h"
#include "dialects/kubeflow/cel.h"

namespace muster::dialects::kubeflow {
namespace {

constexpr auto kObject = std::to_array<Field>({
    {.path = "apiVersion", .type = Type::String, .doc = "Group and version of this kind."},
    {.path = "kind", .type = Type::String, .doc = "Name of this kind."},
    {.path = "metadata", .type = Type::Open},
    {.path = "status", .type = Type::Open},
    {.path = "spec", .type = Type::Object, .required = true, .doc = "What is to run."},
    {.path = "spec.runPolicy", .type = Type::Object, .doc = "Limits, clean-up and suspension."},
});

constexpr auto kRunPolicy = std::to_array<Field>({
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
    {.path = "schedulingPolicy", .type = Type::Object, .doc = "All-or-nothing placement."},
    {.path = "schedulingPolicy.minAvailable",
     .type = Type::Int32,
     .minimum = 0,
     .doc = "Pods that must fit at once; absent: all of the job."},
    {.path = "schedulingPolicy.queue",
     .type = Type::String,
     .doc = "Accepted, not obeyed yet: put the queue label of your cluster into the pod "
            "templates."},
    {.path = "schedulingPolicy.priorityClass",
     .type = Type::String,
     .doc = "Accepted, not obeyed yet: set priorityClassName in the pod templates."},
    {.path = "schedulingPolicy.minResources",
     .type = Type::Map,
     .keys = Format::ResourceName,
     .doc = "Accepted, not obeyed yet: minAvailable says how many pods must fit at once."},
    {.path = "schedulingPolicy.minResources.*", .type = Type::Quantity, .doc = "An amount."},
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

// Only for the schema: a job is checked without its status, which others may have written.
constexpr auto kTemplate = std::to_array<Field>({
    {.path = "template.metadata",
     .type = Type::Open,
     .doc = "Labels, annotations and finalizers of the pods."},
    {.path = "template.spec", .type = Type::Open, .doc = "The pods, as Kubernetes knows them."},
});

constexpr auto kStatus = std::to_array<Field>({
    {.path = "",
     .type = Type::Object,
     .doc = "What became of the job; written by Muster, and by nobody else."},
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
    {.path = "muster",
     .type = Type::Open,
     .doc = "What Muster remembers of the job beyond what can be seen in the cluster. Not an "
            "interface."},
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
  FieldTable table(kObject);
  table.add("spec.runPolicy", kRunPolicy);
  table.add("spec.runPolicy", std::array{with_fallback(kRunPolicy[0], to_string(kind.clean_up))});
  const std::string each = each_replica_spec(kind);
  table.add(each, kReplicaSpec);
  if (!kind.restart_in_template) {
    table.add(each, std::array{with_fallback(kRolePolicy[0], to_string(kind.restart))});
  }
  table.add("", kind.fields);
  return table;
}

json::Value job_schema(const Kind& kind) {
  FieldTable table = job_fields(kind);
  table.add(each_replica_spec(kind), kTemplate);
  table.add("status", kStatus);
  table.add("status", kind.status_fields);
  table.add("", std::array{Field{.path = "metadata", .type = Type::Object}});
  json::Value schema = schema_of(table, cel_rules(kind));
  json::Object out{{"description", kind.doc}};
  for (const auto& [name, value] : schema.as_object()) out.set(name, value);
  return out;
}

}  // namespace muster::dialects::kubeflow
