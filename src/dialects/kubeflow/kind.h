#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/check/fields.h"
#include "dialects/check/job_fields.h"
#include "dialects/check/schema.h"
#include "plan/plan.h"

// What the kinds of this family differ in. A kind says it of itself in one value of Kind; what it
// does beyond that are the few hooks of kubeflow::Dialect.
namespace muster::dialects::kubeflow {

enum class RestartPolicy { Always, OnFailure, Never, ExitCode };

std::string_view to_string(RestartPolicy policy);

struct RoleKind {
  std::string_view name;  // Worker; manifests may spell it in any case
  int least = 0;          // replicas of a role that is there
  int most = kMostPods;
  bool required = false;  // every job has it
  std::string_view why;   // of these limits: "all ranks meet at one Scheduler"
};

// Where the replica specs of a job are.
struct Replicas {
  std::string_view field;  // of spec
  // Of a list: the member that names the role, and the role of an entry without it. Else the specs
  // are a map by role.
  std::string_view role_member;
  std::string_view default_role;

  [[nodiscard]] bool is_list() const { return !role_member.empty(); }
};

struct Port {
  std::string_view name;
  int number = 0;
};

// The container that ranks talk to and that decides about their end.
struct MainContainer {
  std::string_view name;
  bool or_only = false;  // the only container of a pod may have any name
  Port port;             // added unless it declares one of that name
};

struct Services {
  enum class Address { ClusterIp, Headless };
  Address address = Address::ClusterIp;
  std::string_view role;       // one Service for its rank 0; empty: one for each rank of every role
  bool job_port_only = false;  // else every port of the main container
};

struct Kind {
  std::string_view name;  // MSJob
  std::string_view plural;
  std::string_view group = "kubeflow.org";
  std::string_view version = "v1";
  std::vector<std::string> short_names;
  std::string_view controller;  // event source; empty: the name in lower case, and -controller
  std::string_view framework;   // metrics label
  std::string_view foreign_lease;
  std::string_view doc;

  Replicas replicas;
  std::vector<RoleKind> roles;           // in the order in which they are shown
  std::span<const Field> fields;         // the kind's own, from the root of the object
  std::span<const Field> status_fields;  // the same below status, beyond those of the family
  std::vector<CelRule> rules;            // its own, beside those that follow from the rest
  MainContainer container;
  Services services;

  RestartPolicy restart = RestartPolicy::Never;  // where a role says nothing
  bool restart_in_template = false;              // the pod template says it, not the role
  plan::CleanUp clean_up = plan::CleanUp::Running;
  plan::ExitCodes retryable;  // under ExitCode
  bool retry_without_code = false;
  std::string_view scales;  // the role that `kubectl scale` changes; a map of roles only
};

const RoleKind* find_role(const Kind& kind, std::string_view name);  // in any case
std::vector<std::string_view> role_names(const Kind& kind);

}  // namespace muster::dialects::kubeflow
