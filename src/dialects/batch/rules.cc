#include "dialects/batch/rules.h"

#include <fmt/format.h>

#include "api/names.h"
#include "api/object.h"
#include "dialects/batch/job.h"
#include "dialects/check/messages.h"

namespace muster::dialects::batch {
namespace {

struct Refused {
  std::string_view field;
  std::string_view instead;
};

// What Kubernetes knows and we do not obey, and what to do instead.
constexpr std::array kRefused = {
    Refused{"podFailurePolicy", "backoffLimit counts every failure"},
    Refused{"successPolicy", "a Job succeeds when all completions have"},
    Refused{"backoffLimitPerIndex", "set backoffLimit, for all indexes together"},
    Refused{"maxFailedIndexes", "set backoffLimit, for all indexes together"},
};

void check_refused(const json::Value& spec, const Path& path, Findings& findings) {
  for (const auto& [field, instead] : kRefused) {
    if (spec[field].is_null()) continue;
    findings.refuse(path / field, rules::kNotSupported,
                    fmt::format("is not supported on this cluster; leave it out: {}", instead));
  }
  if (spec["manualSelector"].as_bool()) {
    findings.refuse(
        path / "manualSelector", rules::kNotSupported,
        "is not supported on this cluster; leave it out: the pods of a Job are found by "
        "the labels that it gets");
  }
}

// Pods carry the name in a label, and with an index it is their host name.
void check_name(const json::Value& job, const Job& read, Findings& findings) {
  const std::string& name = api::name_of(job);
  if (name.empty()) return;
  if (const auto wrong = api::check_label_value(name)) {
    findings.refuse(Path("metadata.name"), rules::kJobName,
                    fmt::format("{} is a label of the pods: {}", in_quotes(name), *wrong));
    return;
  }
  if (!read.indexed || read.completions.value_or(0) < 1) return;
  const std::string last = fmt::format("{}-{}", name, *read.completions - 1);
  if (const auto wrong = api::check_dns_label(last)) {
    findings.refuse(
        Path("metadata.name"), rules::kJobName,
        fmt::format("the host name {} of the last pod is no name: {}", in_quotes(last), *wrong));
  }
}

// Only the server writes it, and from the uid.
void check_selector(const json::Value& job, const Path& path, Findings& findings) {
  const json::Value& selector = job["spec"]["selector"];
  if (selector.is_null() || selector == selector_of(api::uid_of(job))) return;
  findings.refuse(path / "selector", rules::kOwnSelector, "is written by the server; leave it out");
}

void check_labels(const json::Value& job, const Path& path, Findings& findings) {
  const json::Value& written = job["spec"]["template"]["metadata"]["labels"];
  for (const auto& [key, value] : own_labels(api::name_of(job), api::uid_of(job))) {
    const json::Value& label = written[key];
    if (label.is_null() || !label.is_string() || label.as_string() == value) continue;
    findings.refuse(path / "template" / "metadata" / "labels" / key, rules::kOwnLabel,
                    fmt::format("is written by the server, and cannot be {}; leave it out",
                                in_quotes(label.as_string())));
  }
}

void check_fixed(const json::Value& old, const json::Value& job, std::string_view field,
                 Findings& findings) {
  if (old["spec"][field] == job["spec"][field]) return;
  findings.refuse(Path("spec") / field, rules::kImmutable,
                  "cannot be changed; delete the Job and create it anew");
}

}  // namespace

void check_job(const json::Value& job, Findings& findings) {
  const Path path("spec");
  const json::Value& spec = job["spec"];
  const Job read = read_job(job);
  check_refused(spec, path, findings);
  check_name(job, read, findings);
  check_selector(job, path, findings);
  check_labels(job, path, findings);
  if (read.indexed && !read.completions) {
    findings.refuse(path / "completions", rules::kCompletions,
                    "is required with completionMode Indexed: how many indexes there are");
  }
  const json::Value& containers = spec["template"]["spec"]["containers"];
  if (containers.is_array() && containers.as_array().empty()) {
    findings.refuse(path / "template" / "spec" / "containers", rules::kSomeContainer,
                    "is empty; a pod needs at least one container");
  }
}

void check_update(const json::Value& old, const json::Value& job, Findings& findings) {
  for (const std::string_view field : {"selector", "template", "completionMode", "managedBy"})
    check_fixed(old, job, field, findings);
  const Job read = read_job(job);
  if (!read.indexed) {
    check_fixed(old, job, "completions", findings);
  } else if (old["spec"]["completions"] != job["spec"]["completions"] &&
             read.completions != read.parallelism) {
    findings.refuse(Path("spec.completions"), rules::kImmutable,
                    "can only be changed together with parallelism, to the same number");
  }
}

}  // namespace muster::dialects::batch
