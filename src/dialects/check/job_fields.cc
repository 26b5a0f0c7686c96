#include "dialects/check/job_fields.h"

#include <array>

#include "plan/blocked.h"

namespace muster::dialects {
namespace {

constexpr auto kObject = std::to_array<Field>({
    {.path = "apiVersion", .type = Type::String, .doc = "Group and version of this kind."},
    {.path = "kind", .type = Type::String, .doc = "Name of this kind."},
    {.path = "metadata", .type = Type::Open},
    {.path = "status", .type = Type::Open},
    {.path = "spec", .type = Type::Object, .required = true, .doc = "What is to run."},
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
    {.path = "muster",
     .type = Type::Open,
     .doc = "What Muster remembers of the job beyond what can be seen in the cluster. Not an "
            "interface."},
    {.path = "muster.blockedOnNode",
     .type = Type::List,
     .maximum = plan::kMostBlockedNodes,
     .doc = "Nodes that do not answer and hold pods of the job, by name. Their ranks are made anew "
            "once those pods are gone."},
    {.path = "muster.blockedOnNode[]", .type = Type::Object, .doc = "One of them."},
    {.path = "muster.blockedOnNode[].node", .type = Type::String, .doc = "Name of the node."},
    {.path = "muster.blockedOnNode[].since",
     .type = Type::Time,
     .doc = "When it should have answered."},
    {.path = "muster.blockedOnNode[].ranks",
     .type = Type::Map,
     .doc = "By role the indexes of the ranks that wait there, as in 0,4-7."},
    {.path = "muster.blockedOnNode[].ranks.*",
     .type = Type::String,
     .doc = "Indexes of the role's ranks there."},
});

}  // namespace

std::span<const Field> object_fields() {
  return kObject;
}

json::Value job_schema(FieldTable table, std::string_view doc,
                       const std::vector<std::string>& roles, std::span<const Field> status,
                       const std::vector<CelRule>& rules) {
  for (const std::string& role : roles) table.add(role, kTemplate);
  table.add("status", kStatus);
  table.add("status", status);
  table.add("", std::array{Field{.path = "metadata", .type = Type::Object}});
  const json::Value schema = schema_of(table, rules);
  json::Object out{{"description", doc}};
  for (const auto& [name, value] : schema.as_object()) out.set(name, value);
  return out;
}

}  // namespace muster::dialects
