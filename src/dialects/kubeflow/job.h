#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "plan/plan.h"

// MSJob as it was meant: role keys normalised, defaults filled in. In memory only.
namespace muster::dialects::mindspore {

enum class RoleName { Scheduler, PS, Worker };

// The spelling of status and labels' origin: Scheduler, PS, Worker.
std::string_view to_string(RoleName role);
// In any case; nothing when it is none of the three.
std::optional<RoleName> parse_role(std::string_view key);

enum class RestartPolicy { Always, OnFailure, Never, ExitCode };

std::string_view to_string(RestartPolicy policy);

// Lives no longer than the job it was decoded from.
struct RoleSpec {
  RoleName name = RoleName::Worker;
  std::string key;  // as the user spelled it, for paths
  int replicas = 1;
  RestartPolicy restart = RestartPolicy::Never;
  const json::Value* pod = nullptr;  // the raw template, which stays in the job; may be null
};

struct Spec {
  std::vector<RoleSpec> roles;  // Scheduler, PS, Worker: those that are there
  bool all_workers = false;     // successPolicy: AllWorkers
  bool dynamic_workers = false;
  plan::CleanUp clean_up = plan::CleanUp::Running;
  plan::Limits limits;
  std::optional<int> min_available;
  std::string queue;
  std::string priority_class;
  json::Value min_resources;  // null when absent

  [[nodiscard]] const RoleSpec* role(RoleName name) const;
  [[nodiscard]] int replicas(RoleName name) const;
  [[nodiscard]] int total() const;
  // The jobs of this kind meet through the Scheduler; without one nothing is injected.
  [[nodiscard]] bool has_scheduler() const { return replicas(RoleName::Scheduler) > 0; }
};

// Total: what is not as it should be reads as its default. Validation is somewhere else.
Spec decode(const json::Value& job);

}  // namespace muster::dialects::mindspore
