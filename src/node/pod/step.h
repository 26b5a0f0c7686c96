#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/pod.h"
#include "base/time.h"
#include "json/value.h"
#include "node/agent/options.h"
#include "node/pod/facts.h"

// A pod's life on this node as a state machine, without the machine: step() says what follows from
// where the pod stands, what is known of it and what just came about.
//
//   Unprepared ⇄ Preparing ⇄ Prepared ─nothing runs, nothing will─▶ Reporting ─the API has it─▶
//     TearingDown ─▶ TornDown ─deleted─▶ Leaving ─▶ Done
//
// A pod that the API forgot goes straight to TearingDown (over Abandoning, while it is being
// prepared) and from there to Done. An Unknown pod waits for its deletion, and nothing else.
namespace muster::node {

// Sandbox, volumes and GPUs are not there yet, or not any more.
struct Unprepared {
  int failures = 0;   // of the preparation, in a row
  Time not_before{};  // the last try failed
  friend bool operator==(const Unprepared&, const Unprepared&) = default;
};
struct Preparing {
  int failures = 0;
  friend bool operator==(const Preparing&, const Preparing&) = default;
};
// Containers may start.
struct Prepared {
  friend bool operator==(const Prepared&, const Prepared&) = default;
};
// The exit codes are in the API before the runtime forgets them.
struct Reporting {
  api::PodPhase phase = api::PodPhase::Failed;
  friend bool operator==(const Reporting&, const Reporting&) = default;
};
// Forgotten during its preparation, which must end first: its volumes would come back.
struct Abandoning {
  friend bool operator==(const Abandoning&, const Abandoning&) = default;
};
struct TearingDown {
  friend bool operator==(const TearingDown&, const TearingDown&) = default;
};
// Nothing of it is left here; the API still has it.
struct TornDown {
  friend bool operator==(const TornDown&, const TornDown&) = default;
};
// Being taken out of the API.
struct Leaving {
  friend bool operator==(const Leaving&, const Leaving&) = default;
};
struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};
// Its shim lives, but cannot be understood. It may be running: nothing of it is started again.
struct Unknown {
  friend bool operator==(const Unknown&, const Unknown&) = default;
};
using PodState = std::variant<Unprepared, Preparing, Prepared, Reporting, Abandoning, TearingDown,
                              TornDown, Leaving, Done, Unknown>;

struct Changed {};  // the pod, a container, the clock: look again
struct PreparationDone {};
struct PreparationFailed {
  std::string message;
};
struct PreparationCancelled {};
struct SandboxLost {};  // a start failed by the machine: perhaps the sandbox died
struct Poked {};        // what it may be waiting for may be there
struct Evicted {        // it has to go, at once
  std::string message;
  bool disruption = false;
};
struct TearDownDone {};
struct RemovalDone {};
using PodEvent = std::variant<Changed, PreparationDone, PreparationFailed, PreparationCancelled,
                              SandboxLost, Poked, Evicted, TearDownDone, RemovalDone>;

struct Prepare {
  friend bool operator==(const Prepare&, const Prepare&) = default;
};
struct KillSandbox {
  friend bool operator==(const KillSandbox&, const KillSandbox&) = default;
};
struct StartContainer {
  std::string name;
  int attempt = 0;
  friend bool operator==(const StartContainer&, const StartContainer&) = default;
};
struct StopContainer {
  std::string name;
  int attempt = 0;
  Duration grace{};
  friend bool operator==(const StopContainer&, const StopContainer&) = default;
};
// Every container that runs. Again with a shorter grace period shortens it, never lengthens it.
struct StopAll {
  Duration grace{};
  friend bool operator==(const StopAll&, const StopAll&) = default;
};
// Ends every process and gives back the room that the pod took, which others may be in need of.
struct GiveRoom {
  friend bool operator==(const GiveRoom&, const GiveRoom&) = default;
};
// Tells people that the pod failed as a whole.
struct AnnounceFailure {
  PodFailure failure;
  friend bool operator==(const AnnounceFailure&, const AnnounceFailure&) = default;
};
struct TearDown {
  friend bool operator==(const TearDown&, const TearDown&) = default;
};
struct RemoveFromApi {
  friend bool operator==(const RemoveFromApi&, const RemoveFromApi&) = default;
};
struct Finish {
  friend bool operator==(const Finish&, const Finish&) = default;
};
using PodAction = std::variant<Prepare, KillSandbox, StartContainer, StopContainer, StopAll,
                               GiveRoom, AnnounceFailure, TearDown, RemoveFromApi, Finish>;

// What step() sees besides the facts.
struct PodObservation {
  const json::Value& pod;
  const BackOffOptions& back_off;
  bool reported = false;  // the API has the status that follows from the facts
  Time now{};
};

struct PodStep {
  PodState next;
  PodFacts facts;  // with what the step itself decided: holds, stopping, failure, settled
  std::vector<PodAction> actions;
  std::optional<Time> wake_at;  // look again then
};

PodStep step(PodState state, PodFacts facts, const PodEvent& event, const PodObservation& seen);

}  // namespace muster::node
