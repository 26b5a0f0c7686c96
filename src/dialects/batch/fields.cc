#include "dialects/batch/fields.h"

#include <array>

#include "dialects/check/pod_template.h"
#include "dialects/check/schema.h"

namespace muster::dialects::batch {
namespace {

// What the ledger of one object holds; Kubernetes allows an Indexed Job as many at once.
constexpr int kMostRanks = 100'000;

constexpr auto kFields = std::to_array<Field>({
    {.path = "apiVersion", .type = Type::String, .doc = "batch/v1."},
    {.path = "kind", .type = Type::String, .doc = "Job."},
    {.path = "metadata", .type = Type::Open},
    {.path = "status", .type = Type::Open, .doc = "What became of the Job."},
    {.path = "spec", .type = Type::Object, .required = true, .doc = "What is to run."},
    {.path = "spec.parallelism",
     .type = Type::Int32,
     .fallback = "1",
     .minimum = 0,
     .maximum = kMostRanks,
     .doc = "How many pods may run at once."},
    {.path = "spec.completions",
     .type = Type::Int32,
     .minimum = 0,
     .maximum = kMostRanks,
     .doc =
         "How many pods have to succeed; without it, but with parallelism, the pods share a work "
         "queue: once one has succeeded no more are started, and the Job is complete when all "
         "have ended."},
    {.path = "spec.completionMode",
     .type = Type::String,
     .fallback = "NonIndexed",
     .allowed = "NonIndexed|Indexed",
     .doc = "Indexed: every completion has an index of its own, from 0, in JOB_COMPLETION_INDEX."},
    {.path = "spec.backoffLimit",
     .type = Type::Int32,
     .fallback = "6",
     .minimum = 0,
     .doc = "How many pods may fail before the Job does."},
    {.path = "spec.activeDeadlineSeconds",
     .type = Type::Int64,
     .minimum = 0,
     .doc = "Seconds after status.startTime at which a Job that still runs fails."},
    {.path = "spec.ttlSecondsAfterFinished",
     .type = Type::Int32,
     .minimum = 0,
     .doc = "Seconds after its end at which the Job is deleted; absent: never."},
    {.path = "spec.suspend",
     .type = Type::Bool,
     .fallback = "false",
     .doc = "True: the Job has no running pods until this is false again."},
    {.path = "spec.podReplacementPolicy",
     .type = Type::String,
     .allowed = "TerminatingOrFailed|Failed",
     .doc = "Either is accepted; a pod is replaced once the one before it has ended."},
    {.path = "spec.managedBy",
     .type = Type::String,
     .doc = "Who runs the Job; any other than kubernetes.io/job-controller is left alone."},
    {.path = "spec.selector", .type = Type::Open, .doc = "Written by the server."},
    {.path = "spec.manualSelector", .type = Type::Bool, .doc = "False."},
    {.path = "spec.podFailurePolicy", .type = Type::Open, .doc = "Refused."},
    {.path = "spec.successPolicy", .type = Type::Open, .doc = "Refused."},
    {.path = "spec.backoffLimitPerIndex", .type = Type::Int32, .doc = "Refused."},
    {.path = "spec.maxFailedIndexes", .type = Type::Int32, .doc = "Refused."},
    {.path = "spec.template", .type = Type::Open, .required = true, .doc = "The pods."},
});

// Rows of the template that a Job is stricter about.
constexpr auto kTemplate = std::to_array<Field>({
    {.path = "spec", .type = Type::Open, .required = true, .hint = "at least its containers"},
    {.path = "spec.containers", .type = Type::List, .required = true},
    {.path = "spec.restartPolicy",
     .type = Type::String,
     .required = true,
     .allowed = "OnFailure|Never",
     .hint = "OnFailure starts a container again in its pod, Never makes a new pod"},
});

}  // namespace

FieldTable job_fields() {
  FieldTable table(kFields);
  table.add("spec.template", pod_template_fields());
  table.add("spec.template", kTemplate);
  return table;
}

json::Value job_schema() {
  json::Object out{{"description", "Pods that run to completion, several at once if asked."}};
  const json::Value schema = schema_of(FieldTable(kFields));
  for (const auto& [name, value] : schema.as_object()) out.set(name, value);
  return out;
}

}  // namespace muster::dialects::batch
