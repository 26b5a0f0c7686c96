#include "dialects/batch/job.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/object.h"

namespace muster::dialects::batch {
namespace {

constexpr int kBackoffLimit = 6;

std::optional<std::int64_t> read_number(const json::Value& value) {
  return value.is_int() ? std::optional(value.as_int()) : std::nullopt;
}

// Callers may not have validated: a number that no int holds must not wrap.
std::optional<int> read_count(const json::Value& value) {
  if (!value.is_int()) return std::nullopt;
  return static_cast<int>(
      std::clamp<std::int64_t>(value.as_int(), 0, std::numeric_limits<std::int32_t>::max() / 16));
}

void set_if_absent(json::Value& object, std::string_view key, json::Value value) {
  json::Value& member = object[key];
  if (member.is_null()) member = std::move(value);
}

}  // namespace

Job read_job(const json::Value& job) {
  const json::Value& spec = job["spec"];
  const auto parallelism = read_count(spec["parallelism"]);
  Job out{.parallelism = parallelism.value_or(1),
          .completions = read_count(spec["completions"]),
          .indexed = spec["completionMode"].as_string() == "Indexed",
          .suspended = spec["suspend"].as_bool(),
          .limits = {.deadline_seconds = read_number(spec["activeDeadlineSeconds"]),
                     .ttl_seconds = read_number(spec["ttlSecondsAfterFinished"]),
                     .backoff = read_number(spec["backoffLimit"]).value_or(kBackoffLimit)}};
  if (!parallelism && !out.completions && !out.indexed) out.completions = 1;
  return out;
}

std::vector<std::pair<std::string, std::string>> own_labels(const std::string& name,
                                                            const std::string& uid) {
  return {{std::string(kControllerUid), uid},
          {"controller-uid", uid},
          {"batch.kubernetes.io/job-name", name},
          {"job-name", name}};
}

json::Value selector_of(const std::string& uid) {
  return json::Object{{"matchLabels", json::Object{{std::string(kControllerUid), uid}}}};
}

void set_defaults(json::Value& job) {
  const json::Value& written = job;
  // Validation says what is wrong with any other.
  if (!written["metadata"].is_object() || !written["spec"]["template"].is_object()) return;
  json::Value& spec = job["spec"];
  if (spec.at_path("parallelism").is_null() && spec.at_path("completionMode") != "Indexed")
    set_if_absent(spec, "completions", 1);
  set_if_absent(spec, "parallelism", 1);
  set_if_absent(spec, "completionMode", "NonIndexed");
  set_if_absent(spec, "backoffLimit", kBackoffLimit);
  set_if_absent(spec, "suspend", false);
  set_if_absent(spec, "podReplacementPolicy", "TerminatingOrFailed");
  set_if_absent(spec, "manualSelector", false);
  set_if_absent(spec, "selector", selector_of(api::uid_of(job)));
  json::Value& metadata = spec["template"]["metadata"];
  if (!metadata.is_null() && !metadata.is_object()) return;
  json::Value& labels = metadata["labels"];
  if (!labels.is_null() && !labels.is_object()) return;
  // A Job without labels gets those of its template, as the user wrote them.
  const bool ours_are_there = std::as_const(labels)[kControllerUid].is_string();
  if (labels.is_object() && !ours_are_there && written["metadata"]["labels"].as_object().empty())
    job["metadata"]["labels"] = labels;
  for (auto& [key, value] : own_labels(api::name_of(job), api::uid_of(job)))
    set_if_absent(labels, key, std::move(value));
}

}  // namespace muster::dialects::batch
