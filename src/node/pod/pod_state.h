#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/pod.h"
#include "base/time.h"
#include "json/value.h"
#include "node/agent/options.h"

// What is known of a pod's containers, and what follows from it. All of it is pure: the worker
// keeps a PodRecord up to date and asks decide() what to do next.
namespace muster::node {

enum class RestartPolicy { Always, OnFailure, Never };
RestartPolicy restart_policy_of(const json::Value& pod);

// How one run of a container ended.
struct Ending {
  int attempt = 0;
  int exit_code = 0;
  int signal = 0;
  std::string reason;
  std::string message;
  Time started{};
  Time finished{};

  friend bool operator==(const Ending&, const Ending&) = default;
};

struct NotStarted {
  friend bool operator==(const NotStarted&, const NotStarted&) = default;
};
struct Running {
  Time started{};
  friend bool operator==(const Running&, const Running&) = default;
};
using ContainerState = std::variant<NotStarted, Running, Ending>;

// Why a container whose turn it is does not start, and when to try again (or on an event).
struct Hold {
  std::string reason;
  std::string message;
  Time retry_at{};
};

struct ContainerRecord {
  enum class Role { Init, Sidecar, Main };  // Sidecar: an init container that keeps running

  std::string name;
  Role role = Role::Main;
  int attempt = 0;  // of the current state: how often it was restarted
  ContainerState state = NotStarted{};
  std::optional<Ending> last;   // of the attempt before
  int quick_ends = 0;           // see back_off.h
  bool startup_passed = false;  // its startup probe, or it has none
  bool ready = false;           // its readiness probe, or it has none
  bool starting = false;        // a start is under way
  bool seen_running = false;    // the API says that it ran when we last heard of it
  std::optional<Hold> hold;

  [[nodiscard]] bool running() const { return std::holds_alternative<Running>(state); }
  [[nodiscard]] const Ending* ending() const { return std::get_if<Ending>(&state); }
};

// A pod that failed as a whole, whatever its containers say.
struct PodFailure {
  std::string reason;
  std::string message;
};

struct PodRecord {
  std::vector<ContainerRecord> containers;  // init containers first, in the pod's order
  RestartPolicy restart_policy = RestartPolicy::Always;
  bool sandbox = false;
  std::string pod_ip;
  std::optional<Time> start_time;
  bool stopping = false;  // deleted, or failed as a whole: nothing starts any more
  std::optional<PodFailure> failure;
  std::optional<api::PodPhase> settled;  // a final phase that the API already has

  [[nodiscard]] ContainerRecord* find(std::string_view name);
  [[nodiscard]] const ContainerRecord* find(std::string_view name) const;
};

// The containers of a pod before anything happened, with what its status in the API already says.
PodRecord record_of(const json::Value& pod);

// Whether the policy wants the container that ended so to run again.
bool wants_restart(RestartPolicy policy, const ContainerRecord& container);
// When an ended container may start again.
Time restart_at(const BackOffOptions& options, const ContainerRecord& container);

bool is_initialized(const PodRecord& record);
api::PodPhase phase_of(const PodRecord& record);

struct Decision {
  std::vector<std::string> start;      // containers whose turn it is
  std::vector<std::string> stop;       // sidecars that nobody needs any more
  std::optional<api::PodPhase> final;  // nothing runs and nothing will
  std::optional<Time> wake_at;         // decide again then
};
Decision decide(const PodRecord& record, const BackOffOptions& options, Time now);

}  // namespace muster::node
