#include "dialects/t9k/labels.h"

#include "base/strings.h"

namespace muster::dialects::t9k {

Labels pod_labels(const plan::JobRef& job, std::string_view role, const plan::Value& pod,
                  const plan::Value& index) {
  const std::string kind = to_lower(job.resource.kind);
  return {{"tensorstack.dev/owner-kind", {job.resource.kind}},
          {"tensorstack.dev/owner-name", {job.name}},
          {"tensorstack.dev/component", {kind}},
          {"tensorstack.dev/component-type", {"user"}},
          {kind, {job.name}},
          {kind + "-replica", pod},
          {"replica-type", {std::string(role)}},
          {"replica-index", index}};
}

}  // namespace muster::dialects::t9k
