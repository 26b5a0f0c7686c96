#include "dialects/check/job_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/names.h"
#include "api/object.h"
#include "dialects/check/job_fields.h"
#include "dialects/check/messages.h"
#include "dialects/check/pod_template.h"

namespace muster::dialects {
namespace {

constexpr std::size_t kLongestHostName = 63;

bool has_good_form(const std::string& name, std::string_view services, const Path& path,
                   Findings& findings) {
  const auto wrong =
      services.empty() ? api::check_dns_subdomain(name) : api::check_service_name(name);
  if (!wrong) return true;
  const std::string why = services.empty() ? std::string() : fmt::format(" ({})", services);
  findings.refuse(path, rules::kJobName, fmt::format("{}: {}{}", in_quotes(name), *wrong, why));
  return false;
}

}  // namespace

void check_job_name(const json::Value& job, std::string_view services,
                    const std::vector<std::string>& longest, Findings& findings) {
  const std::string& name = api::name_of(job);
  const Path path("metadata.name");
  if (name.empty()) {
    if (job["metadata"]["generateName"].as_string().empty()) {
      findings.refuse(path, rules::kRequired, "is required");
    }
    return;
  }
  if (!has_good_form(name, services, path, findings)) return;
  for (const std::string& pod : longest) {
    if (pod.size() <= kLongestHostName) continue;
    const std::size_t suffix = pod.size() - name.size();
    findings.refuse(
        path, rules::kNameLength,
        fmt::format("has {} characters; at most {} are possible, because {} would be "
                    "longer than the 63 of a host name",
                    name.size(), kLongestHostName - std::min(kLongestHostName, suffix), pod));
    return;
  }
}

void check_job_size(int total, const Path& path, Findings& findings) {
  if (total <= kMostPods) return;
  findings.refuse(path, rules::kJobSize,
                  fmt::format("asks for {} pods in all; at most {} are allowed", total, kMostPods));
}

bool check_template(const FieldTable& table, const json::Value& role, const Path& path,
                    std::string_view needs, Findings& findings) {
  const json::Value& pod = role["template"];
  const Path here = path / "template";
  // What has the wrong type was refused by the table; looking into it would only repeat that.
  if (!role.is_null() && !role.is_object()) return false;
  if (!pod.is_null() && !pod.is_object()) return false;
  table.check(pod, here, findings);
  if (!pod["spec"].is_null() && !pod["spec"].is_object()) return false;
  const auto& containers = pod["spec"]["containers"];
  const bool none =
      containers.is_null() || (containers.is_array() && containers.as_array().empty());
  if (none) {
    findings.refuse(here / "spec" / "containers", rules::kSomeContainer,
                    fmt::format("is required: {}", needs));
  }
  check_pod_template(pod, here, findings);
  return !none && containers.is_array();
}

}  // namespace muster::dialects
