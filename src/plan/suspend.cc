#include "plan/suspend.h"

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"

namespace muster::plan {
namespace {

// The run of every job that is held: what it would be otherwise does not matter meanwhile.
constexpr std::string_view kHeldRun = "suspended";

std::string annotation_of(const json::Value& job) {
  return api::annotation_of(job, kSuspendAnnotation);
}

}  // namespace

std::optional<Warning> apply_suspend_annotation(const Identity& identity, const json::Value& job,
                                                Plan& plan) {
  const std::string value = annotation_of(job);
  if (value.empty() || value == "false") return std::nullopt;
  const auto useless = [&](std::string why) {
    return Warning{.reason = "SuspendAnnotationIgnored",
                   .message = fmt::format("annotation {}: {}", kSuspendAnnotation, why)};
  };
  if (!identity.suspend_path.empty()) {
    return useless(
        fmt::format("a {} is suspended by {}", identity.resource.kind, identity.suspend_path));
  }
  if (value != "true")
    return useless(fmt::format("\"{}\" is neither \"true\" nor \"false\"", printable(value)));
  plan.hold = true;
  plan.run_key = kHeldRun;
  return std::nullopt;
}

Result<bool> set_suspended(const Identity& identity, json::Value& job, bool suspended) {
  if (identity.suspend_path.empty()) {
    if ((annotation_of(job) == "true") == suspended) return false;
    json::Value& annotations = job["metadata"]["annotations"];
    if (suspended) annotations[kSuspendAnnotation] = "true";
    if (!suspended) annotations.object().erase(kSuspendAnnotation);
    return true;
  }
  json::Value* field = &job;
  for (const std::string_view step : split(identity.suspend_path, '.')) {
    if (!field->is_object() && !field->is_null()) {
      return fail(ErrorCode::Invalid, fmt::format("{} cannot be set: what is above it is no object",
                                                  identity.suspend_path));
    }
    field = &(*field)[step];
  }
  // A field that is not there is written in any case: an alias of it may say otherwise.
  if (*field == json::Value(suspended)) return false;
  *field = suspended;
  return true;
}

}  // namespace muster::plan
