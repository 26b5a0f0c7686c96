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

// What is known of a pod and its containers, and what can be read from it. All of it is pure: the
// worker keeps the facts up to date, step() says what follows from them.
namespace muster::node {

enum class ContainerRestartPolicy { Always, OnFailure, Never };
ContainerRestartPolicy restart_policy_of(const json::Value& pod);

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
  bool for_good = false;  // the pod itself is wrong: no try will succeed

  friend bool operator==(const Hold&, const Hold&) = default;
};

struct ContainerFacts {
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
  // Of the run that would begin now.
  [[nodiscard]] int next_attempt() const { return ending() == nullptr ? attempt : attempt + 1; }

  friend bool operator==(const ContainerFacts&, const ContainerFacts&) = default;
};

// It took more of the node than it may, or the node had nothing left to give.
inline constexpr const char* kEvictedReason = "Evicted";
inline constexpr const char* kDisruptionCondition = "DisruptionTarget";

// A pod that failed as a whole, whatever its containers say.
struct PodFailure {
  std::string reason;
  std::string message;
  bool disruption = false;  // not for anything that it did itself
  friend bool operator==(const PodFailure&, const PodFailure&) = default;
};

struct PodFacts {
  std::vector<ContainerFacts> containers;  // init containers first, in the pod's order
  ContainerRestartPolicy restart_policy = ContainerRestartPolicy::Always;
  bool sandbox = false;
  std::string pod_ip;
  std::optional<Time> start_time;
  bool stopping = false;   // deleted, or failed as a whole: nothing starts any more
  bool forgotten = false;  // the API no longer has it
  std::optional<PodFailure> failure;
  bool gives_room = false;               // evicted, and what it wrote is being removed
  std::optional<api::PodPhase> settled;  // a final phase that the API already has
  bool refused = false;  // `failure` is that this node does not run it; nothing of it was made
  std::int64_t lost_files = 0;  // written below the submitter's directory, and gone with containers
  // Why nothing can be said of its containers while its shim lives. What the API has stays then.
  std::optional<std::string> unknown;

  [[nodiscard]] ContainerFacts* find(std::string_view name);
  [[nodiscard]] const ContainerFacts* find(std::string_view name) const;
  [[nodiscard]] bool runs(std::string_view name, int attempt) const;

  friend bool operator==(const PodFacts&, const PodFacts&) = default;
};

// The containers of a pod before anything happened, with what its status in the API already says.
PodFacts facts_of(const json::Value& pod);

// The container's process was started.
void note_start(ContainerFacts& container, int attempt, Time started);
// This run of it is over. True when it starts again, but only after a pause.
bool note_ending(const PodFacts& facts, ContainerFacts& container, Ending ending,
                 const BackOffOptions& back_off, Time now);

// Whether the policy wants the container that ended so to run again.
bool wants_restart(ContainerRestartPolicy policy, const ContainerFacts& container);
// When an ended container may start again.
Time restart_at(const BackOffOptions& options, const ContainerFacts& container);

bool is_initialized(const PodFacts& facts);
// An init container that failed and will not be tried again.
bool failed_for_good(const PodFacts& facts, const ContainerFacts& init);
// An init container that the next one need not wait for.
bool lets_others_begin(const ContainerFacts& init);
api::PodPhase phase_of(const PodFacts& facts);

}  // namespace muster::node
