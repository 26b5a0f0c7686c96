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

bool is_suspended(const Identity& identity, const json::Value& job) {
  if (identity.suspend_path.empty()) return annotation_of(job) == "true";
  return job.at_path(identity.suspend_path).as_bool();
}

Result<void> set_suspended(const Identity& identity, json::Value& job, bool suspended) {
  if (identity.suspend_path.empty()) {
    json::Value& metadata = job["metadata"];
    if (suspended) metadata["annotations"][kSuspendAnnotation] = "true";
    if (!suspended && metadata.at_path("annotations").is_object())
      metadata["annotations"].object().erase(kSuspendAnnotation);
    return {};
  }
  json::Value* field = &job;
  for (const std::string_view step : split(identity.suspend_path, '.')) {
    if (!field->is_object() && !field->is_null()) {
      return fail(ErrorCode::Invalid, fmt::format("{} cannot be set: what is above it is no object",
                                                  identity.suspend_path));
    }
    field = &(*field)[step];
  }
  *field = suspended;
  return {};
}

}  // namespace muster::plan
