#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/check/findings.h"
#include "dialects/kubeflow/kind.h"
#include "json/value.h"
#include "plan/plan.h"

// A job of this family as it was meant: roles found, defaults filled in. In memory only.
namespace muster::dialects::kubeflow {

// Lives no longer than the job it was decoded from, as all of Job.
struct RoleSpec {
  const RoleKind* kind = nullptr;
  std::string name;                   // as the kind spells it
  Path path;                          // as the user spelled it: spec.msReplicaSpecs.worker
  const json::Value* spec = nullptr;  // the raw replica spec
  int replicas = 1;
  RestartPolicy restart = RestartPolicy::Never;

  [[nodiscard]] const json::Value& pod() const { return (*spec)["template"]; }
};

struct Job {
  const Kind* kind = nullptr;
  const json::Value* object = nullptr;
  plan::JobRef ref;
  std::vector<RoleSpec> roles;  // those that are there, in the order of the kind
  plan::CleanUp clean_up = plan::CleanUp::Running;
  plan::Limits limits;
  std::optional<int> min_available;
  bool suspended = false;
  std::int64_t default_port = 0;  // of a main container that declares none

  [[nodiscard]] const json::Value& spec() const { return (*object)["spec"]; }
  [[nodiscard]] const RoleSpec* role(std::string_view name) const;
  [[nodiscard]] int replicas(std::string_view role) const;  // 0 when it is not there
  [[nodiscard]] int total() const;
  // Of a pod, and of its Service where each rank has one.
  [[nodiscard]] std::string pod_name(std::string_view role, int index) const;
  // The main container of a role whose job is valid.
  [[nodiscard]] std::size_t main_container(const RoleSpec& role) const;
  // The number of the job's port in the pods of a role.
  [[nodiscard]] std::int64_t port(const RoleSpec& role) const;
  // True when at least one Service is named after the job.
  [[nodiscard]] bool has_services() const;
};

// Total: what is not as it should be reads as its default. Validation is somewhere else.
Job decode(const Kind& kind, const api::Resource& resource, const json::Value& job);

// The container that counts, among those of a pod template; nothing when there is none.
std::optional<std::size_t> find_main_container(const Kind& kind, const json::Value& pod);

// Where the replica spec of each key or list entry is, and which role that means.
struct RoleEntry {
  std::string key;  // the role as it is written
  Path path;
  const json::Value* spec = nullptr;
};
std::vector<RoleEntry> role_entries(const Kind& kind, const json::Value& job);

}  // namespace muster::dialects::kubeflow
