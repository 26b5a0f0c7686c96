#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace muster::plan {

enum class Phase { Created, Running, Restarting, Suspended, Succeeded, Failed };

std::string_view to_string(Phase phase);
Phase phase_named(std::string_view name);  // Created for anything else
inline bool is_terminal(Phase phase) {
  return phase == Phase::Succeeded || phase == Phase::Failed;
}

// Why a job failed or is restarting.
enum class CauseKind {
  PodFailed,      // a rank ended badly
  BackoffLimit,   // restarted too often
  Deadline,       // active for too long
  InvalidSpec,    // the object cannot be run; set before anything started
  ForeignObject,  // a name that we need belongs to somebody else
  Rejected,       // the API server or a node refused a child for good
};

std::string_view to_string(CauseKind kind);
CauseKind cause_kind_named(std::string_view name);  // PodFailed for anything else

// The first thing that went wrong in the current attempt.
struct Cause {
  CauseKind kind = CauseKind::PodFailed;
  std::string role;
  int index = -1;
  std::string pod;
  int failed = 0;                // how many pods of that role had failed
  std::optional<int> exit_code;  // of the main container
  std::string reason;            // OOMKilled, Error, Evicted, …
  std::string text;              // what a person reads
  std::optional<Time> at;

  friend bool operator==(const Cause&, const Cause&) = default;
};

struct RoleCount {
  int active = 0;  // phase Running
  int pending = 0;
  int succeeded = 0;
  int failed = 0;
  std::int64_t restarts = 0;  // never falls
  // Of roles that remember, as they are now, also after the end; never stored.
  int living = 0;   // pods that run or wait to, and are not on their way out
  int ready = 0;    // of those
  int leaving = 0;  // on their way out

  friend bool operator==(const RoleCount&, const RoleCount&) = default;
};

using Counts = std::map<std::string, RoleCount>;  // by role name

struct ContainerReport {
  std::string name;
  std::string state;             // Waiting, Running or Terminated
  std::optional<int> exit_code;  // of one that has ended

  friend bool operator==(const ContainerReport&, const ContainerReport&) = default;
};

// One rank that has a pod, for kinds whose status lists them.
struct RankReport {
  enum class Stage {
    Pending,
    Starting,  // it has an address, and not all of its containers run
    Running,
    Succeeded,
    Failed,
    Unknown,  // nobody has heard of its node
  };
  std::string role;
  std::string pod;
  std::string uid;
  Stage stage = Stage::Pending;
  std::vector<ContainerReport> containers;  // init containers are not among them

  friend bool operator==(const RankReport&, const RankReport&) = default;
};

// Something that happened and that the user can see as an event; each dialect has its own words.
struct Note {
  enum class Kind {
    PodCreated,
    PodsCreated,  // more than ten in one wave: subject is how many
    PodDeleted,
    PodsDeleted,
    ObjectCreated,
    ObjectsCreated,
    ObjectDeleted,
    ObjectsDeleted,
    CreateFailed,
    DeleteFailed,
    ContainerExited,   // subject pod, detail exit code
    ContainersExited,  // more than ten at once: subject how many, detail exit code of the first
    Restarting,
    Suspended,
    Resumed,
    Renewed,  // an edit asked for another run: all pods are made anew; detail is its run key
    Succeeded,
    Failed,
    JobDeleted,
    Warning,  // reason and detail as they are
  };
  Kind kind = Kind::Warning;
  std::string object_kind;  // Pod, Service, …
  std::string subject;
  std::string reason;
  std::string detail;
  std::optional<Cause> cause;
};

struct EventText {
  bool warning = false;
  std::string reason;
  std::string message;
};

}  // namespace muster::plan
