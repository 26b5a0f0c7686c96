#include "dialects/check/scheduling.h"

#include <fmt/format.h>

namespace muster::dialects {
namespace {

constexpr auto kFields = std::to_array<Field>({
    {.path = "", .type = Type::Object, .doc = "All-or-nothing placement."},
    {.path = "minAvailable",
     .type = Type::Int32,
     .minimum = 0,
     .doc = "Pods that must fit at once; absent: all of the job."},
    {.path = "queue",
     .type = Type::String,
     .doc = "Accepted, not obeyed yet: put the queue label of your cluster into the pod "
            "templates."},
    {.path = "priorityClass",
     .type = Type::String,
     .doc = "Accepted, not obeyed yet: set priorityClassName in the pod templates."},
    {.path = "minResources",
     .type = Type::Map,
     .keys = Format::ResourceName,
     .doc = "Accepted, not obeyed yet: minAvailable says how many pods must fit at once."},
    {.path = "minResources.*", .type = Type::Quantity, .doc = "An amount."},
});

struct NotObeyed {
  std::string_view field;
  std::string_view instead;
};

constexpr auto kNotObeyed = std::to_array<NotObeyed>({
    {"queue",
     "put the queue label of your cluster, such as kueue.x-k8s.io/queue-name, on the pod "
     "templates"},
    {"priorityClass", "set priorityClassName in the pod templates"},
    {"minResources", "the gang is counted in pods; set minAvailable"},
});

bool says_something(const json::Value& value) {
  return !value.as_string().empty() || !value.as_object().empty();
}

}  // namespace

std::span<const Field> scheduling_fields() {
  return kFields;
}

void check_min_available(const json::Value& policy, int total, const Path& path,
                         Findings& findings) {
  const json::Value& minimum = policy["minAvailable"];
  if (!minimum.is_int() || minimum.as_int() <= total) return;
  findings.refuse(path / "minAvailable", rules::kMinAvailable,
                  fmt::format("must be between 0 and {}, the number of pods of the job, not {}",
                              total, minimum.as_int()));
}

void warn_of_scheduling(const json::Value& policy, const Path& path,
                        std::vector<plan::Warning>& warnings) {
  for (const auto& [field, instead] : kNotObeyed) {
    if (!says_something(policy[field])) continue;
    warnings.push_back(
        {.reason = "NotObeyed",
         .message = fmt::format("{}: not obeyed yet; {}", (path / field).text(), instead)});
  }
}

}  // namespace muster::dialects
