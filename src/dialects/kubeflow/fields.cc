#include "dialects/mindspore_fields.h"

#include <array>

#include "dialects/pod_template.h"

namespace muster::dialects::mindspore {
namespace {

constexpr auto kJobFields = std::to_array<Field>({
    {.path = "apiVersion", .type = Type::String},
    {.path = "kind", .type = Type::String},
    {.path = "metadata", .type = Type::Open},
    {.path = "status", .type = Type::Open},
    {.path = "spec", .type = Type::Object, .required = true},
    {.path = "spec.msReplicaSpecs",
     .type = Type::Map,
     .required = true,
     .hint = "the roles Scheduler, PS and Worker"},
    {.path = "spec.msReplicaSpecs.*", .type = Type::Object},
    {.path = "spec.msReplicaSpecs.*.replicas",
     .type = Type::Int32,
     .fallback = "1",
     .minimum = 0,
     .maximum = kMostReplicas},
    {.path = "spec.msReplicaSpecs.*.restartPolicy",
     .type = Type::String,
     .fallback = "Never",
     .allowed = "|Always|OnFailure|Never|ExitCode"},
    {.path = "spec.msReplicaSpecs.*.template", .type = Type::Open},
    {.path = "spec.successPolicy", .type = Type::String, .allowed = "|AllWorkers"},
    {.path = "spec.enableDynamicWorker", .type = Type::Bool, .fallback = "false"},
    {.path = "spec.runPolicy", .type = Type::Object},
    {.path = "spec.runPolicy.cleanPodPolicy",
     .type = Type::String,
     .fallback = "Running",
     .allowed = "All|Running|None"},
    {.path = "spec.runPolicy.activeDeadlineSeconds", .type = Type::Int64, .minimum = 0},
    {.path = "spec.runPolicy.backoffLimit", .type = Type::Int32, .minimum = 0},
    {.path = "spec.runPolicy.ttlSecondsAfterFinished", .type = Type::Int32, .minimum = 0},
    {.path = "spec.runPolicy.schedulingPolicy", .type = Type::Object},
    {.path = "spec.runPolicy.schedulingPolicy.minAvailable", .type = Type::Int32, .minimum = 0},
    {.path = "spec.runPolicy.schedulingPolicy.queue", .type = Type::String},
    {.path = "spec.runPolicy.schedulingPolicy.priorityClass", .type = Type::String},
    {.path = "spec.runPolicy.schedulingPolicy.minResources",
     .type = Type::Map,
     .keys = Format::ResourceName},
    {.path = "spec.runPolicy.schedulingPolicy.minResources.*", .type = Type::Quantity},
});

namespace common = muster::dialects::rules;

constexpr auto kAllRules = std::to_array<Rule>({
    common::kType,         common::kRequired,    common::kMinimum,     common::kMaximum,
    common::kOneOf,        common::kDnsLabel,    common::kEnvName,     common::kPortName,
    common::kLabelKey,     common::kLabelValue,  common::kHostPath,    common::kQuantity,
    common::kResourceName, common::kUnique,      common::kKnownVolume, common::kOneSource,
    common::kWithinLimit,  common::kWholeNumber, rules::kRoleKey,      rules::kSameRole,
    rules::kSomeRole,      rules::kSomeWorker,   rules::kOneScheduler, rules::kSomeContainer,
    rules::kMainContainer, rules::kJobSize,      rules::kMinAvailable, rules::kJobPort,
    rules::kJobName,       rules::kNameLength,
});

}  // namespace

const plan::Identity& identity() {
  static const plan::Identity fixed = {
      .resource = {.group = "mindspore.gitee.com",
                   .version = "v1",
                   .plural = "msjobs",
                   .kind = "MSJob",
                   .scope = api::Scope::Namespaced},
      .singular = "msjob",
      .short_names = {"msj"},
      .categories = {"training", "all"},
      .controller_name = "msjob-controller",
      .framework = "mindspore",
      .foreign_lease = "4725f7c4.gitee.com",
      .children = {api::services()},
      // The last condition is always the current state: that is what `[-1:]` shows.
      .columns = {{"State", ".status.conditions[-1:].type", "string"},
                  {"Ranks", ".status.muster.ranks", "string"},
                  {"Restarts", ".status.muster.restartCount", "integer"},
                  {"Reason", ".status.conditions[-1:].reason", "string", 1},
                  {"Queue", ".spec.runPolicy.schedulingPolicy.queue", "string", 1}}};
  return fixed;
}

std::span<const Field> job_fields() {
  return kJobFields;
}

std::span<const Rule> all_rules() {
  return kAllRules;
}

}  // namespace muster::dialects::mindspore
