#include "dialects/paddle/rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "dialects/check/job_fields.h"
#include "dialects/check/job_rules.h"
#include "dialects/check/scheduling.h"

namespace muster::dialects::paddle {
namespace {

// A role of the wrong type was refused by the table, and so was one without a number of replicas.
bool is_readable(const json::Value& role) {
  return role.is_null() || (role.is_object() && role["replicas"].is_int());
}

void check_roles(const Job& job, Findings& findings) {
  const json::Value& spec = job.spec();
  if (!spec.is_object()) return;
  const bool readable =
      std::ranges::all_of(kRoles, [&](std::string_view role) { return is_readable(spec[role]); });
  if (!readable) return;
  const bool negative = std::ranges::any_of(
      kRoles, [&](std::string_view role) { return spec[role]["replicas"].as_int() < 0; });
  if (job.roles.empty() && !negative) {
    findings.refuse(Path("spec"), dialects::rules::kSomeRole, std::string(kNeedsARole));
  } else if (job.elastic && job.replicas(kWorker) == 0 && spec["elastic"].is_int()) {
    findings.refuse(Path("spec.elastic"), rules::kElasticWorkers,
                    std::string(kElasticNeedsWorkers));
  }
  const bool too_many_of_one = std::ranges::any_of(
      job.roles, [](const RoleSpec& role) { return role.replicas > kMostPods; });
  if (!too_many_of_one) check_job_size(job.total(), Path("spec"), findings);
}

void check_name(const Job& job, Findings& findings) {
  std::vector<std::string> longest;
  for (const RoleSpec& role : job.roles) {
    longest.push_back(job.pod_name(role.name, role.replicas - 1));
  }
  check_job_name(*job.object, "Services are named after the job", longest, findings);
}

void warn(std::vector<plan::Warning>& out, std::string reason, std::string message) {
  out.push_back({.reason = std::move(reason), .message = std::move(message)});
}

}  // namespace

void check_job(const Job& job, const FieldTable& pods, Findings& findings) {
  check_name(job, findings);
  check_roles(job, findings);
  check_min_available(job.spec()["schedulingPolicy"], job.total(), Path("spec.schedulingPolicy"),
                      findings);
  for (const RoleSpec& role : job.roles) {
    check_template(pods, *role.spec, role.path,
                   fmt::format("the first container of {} is the one that trains", role.name),
                   findings);
  }
}

std::vector<plan::Warning> warnings_of(const Job& job) {
  std::vector<plan::Warning> out;
  const json::Value& spec = job.spec();
  if (spec["elastic"].is_int() && spec["elastic"].as_int() == 0) {
    warn(out, "ElasticZero",
         "spec.elastic: 0 makes the job elastic, as any number does; remove the field for one that "
         "is not");
  }
  if (spec["withGloo"].as_int() > 0 && job.gloo == 0) {
    warn(out, "NotObeyed", "spec.withGloo: means nothing without ps");
  }
  for (const RoleSpec& role : job.roles) {
    for (const std::string_view field : {"requests", "limits"}) {
      if ((*role.spec)[field].is_null()) continue;
      warn(out, "NotObeyed",
           fmt::format("spec.{}.{}: means nothing; set replicas, and the resources of containers "
                       "in the template",
                       role.name, field));
    }
    if (role.name == kWorker && !job.elastic &&
        role.pod()["spec"]["restartPolicy"].as_string() == "Always") {
      warn(out, "NeverCompletes",
           "spec.worker: with the restartPolicy Always a worker never succeeds, and the job never "
           "completes; use OnFailure or Never");
    }
  }
  warn_of_scheduling(spec["schedulingPolicy"], Path("spec.schedulingPolicy"), out);
  return out;
}

}  // namespace muster::dialects::paddle
