#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "api/resource.h"
#include "base/time.h"
#include "json/value.h"

namespace muster::plan {

// Which job this is. The uid is its identity; a name may come back with another job behind it.
struct JobRef {
  api::Resource resource;
  std::string ns;
  std::string name;
  std::string uid;
  std::int64_t generation = 0;
};

// Where a value goes inside an object: member names and array indexes.
using JsonPath = std::vector<std::variant<std::string, std::size_t>>;

// A value known only after something else exists. What holds one is created once it resolves.
struct ServiceIp {
  std::string service;
};
struct PodIp {
  std::string role;
  int index = 0;
};
using Late = std::variant<ServiceIp, PodIp>;

struct LateValue {
  JsonPath path;
  Late value;
};

// A child that is not a pod: Service, ConfigMap, Secret, ServiceAccount.
struct Object {
  api::Resource resource;
  std::string name;
  json::Value body;  // complete but for namespace and owner reference
  // The role and index whose pod it accompanies: it goes with that pod's role at clean-up.
  std::string role;
};

enum class KubeletRestart { Always, OnFailure, Never };

// What to do with a pod that ended in Failed.
enum class OnFailedPod {
  Fail,                 // it counts as failed
  RecreateIfRetryable,  // a retryable exit code makes a new pod; any other counts as failed
};

enum class OnLoss { Recreate, RememberSuccess };

struct Role {
  std::string name;        // Worker
  std::string label_name;  // worker
  int replicas = 0;
  json::Value pod;  // raw template with all static injections done; unknown fields survive
  std::vector<std::string> index_labels;  // label keys whose value is the index
  std::vector<LateValue> late;
  std::string main_container;
  std::vector<std::string> after;  // names of objects that must exist before any pod of this role
  KubeletRestart kubelet_restart = KubeletRestart::Never;
  OnFailedPod on_failed = OnFailedPod::Fail;
  bool counts_restarts = false;  // its restarts count against the back-off limit
  OnLoss on_loss = OnLoss::Recreate;
};

// Some ranks of a role, and what must have become of them.
struct RankSet {
  enum class Quorum { All, Index, AtLeast };
  enum class Outcome { Succeeded, Failed, Finished };
  std::string role;
  Quorum quorum = Quorum::All;
  int number = 0;  // the index, or at least how many
  Outcome outcome = Outcome::Succeeded;
};

// Who wins when success and failure are satisfied at once.
enum class Tie { SuccessWins, FailureWins };

struct Limits {
  std::optional<std::int64_t> deadline_seconds;
  std::optional<std::int64_t> ttl_seconds;
  std::optional<std::int64_t> backoff;

  friend bool operator==(const Limits&, const Limits&) = default;
};

// Which pods go when the job has ended. Objects go with the pods unless everything stays.
enum class CleanUp { None, Running, All };

struct Gang {
  int minimum = 0;
  std::string queue;
  std::string priority_class;
  json::Value min_resources;  // null: the sum of the requests
};

// Something the user should know although the job runs: an event of type Warning, once.
struct Warning {
  std::string reason;
  std::string message;
};

// What two kinds share; what only one kind has was compiled away by its dialect.
struct Plan {
  JobRef job;
  std::vector<Role> roles;  // declaration order of the kind
  std::vector<Object> objects;
  std::vector<RankSet> success;  // one satisfied entry decides
  std::vector<RankSet> failure;
  Tie tie = Tie::SuccessWins;
  Limits limits;
  CleanUp on_end = CleanUp::Running;
  CleanUp on_limit = CleanUp::Running;
  std::string running_role;  // the job is Running while a pod of this role is
  std::optional<Gang> gang;
  std::vector<Warning> warnings;

  [[nodiscard]] const Role* role(std::string_view name) const;
  [[nodiscard]] int total_replicas() const;
};

// <job>-<role>-<index>, as every seed kind names its pods.
std::string pod_name(const Plan& plan, const Role& role, int index);

// The labels under which we find our own again. Everything of ours lives under muster.dev/.
namespace labels {
inline constexpr std::string_view kJobUid = "muster.dev/job-uid";
inline constexpr std::string_view kRole = "muster.dev/role";
inline constexpr std::string_view kIndex = "muster.dev/index";
inline constexpr std::string_view kAttempt = "muster.dev/attempt";
inline constexpr std::string_view kEpoch = "muster.dev/epoch";
inline constexpr std::string_view kGang = "muster.dev/gang";
inline constexpr std::string_view kGangSize = "muster.dev/gang-size";
}  // namespace labels

// Written by the CLI on a job for the local cluster: the submitter's PATH and the like, as JSON.
inline constexpr std::string_view kEnvironmentAnnotation = "muster.dev/environment";

}  // namespace muster::plan
