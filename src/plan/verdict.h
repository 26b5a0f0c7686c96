#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "json/value.h"
#include "plan/plan.h"

namespace muster::plan {

enum class Phase { Created, Running, Restarting, Succeeded, Failed };

std::string_view to_string(Phase phase);
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
  Rejected,       // the API server refused a child for good
};

std::string_view to_string(CauseKind kind);

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

  friend bool operator==(const RoleCount&, const RoleCount&) = default;
};

using Counts = std::map<std::string, RoleCount>;  // by role name

// The few facts that cannot be seen in the cluster, kept in status.muster. Each is written before
// the deletion that it justifies.
struct Ledger {
  std::int64_t observed_generation = 0;
  std::int64_t epoch = 0;
  std::optional<Time> start_time;
  std::optional<Time> completion_time;
  // By "Role/index": how often the rank was made anew by us.
  std::map<std::string, std::int64_t> attempts;
  // By role: restarts of pods that are gone, and the sum last reported, so that sums never fall.
  std::map<std::string, std::int64_t> retired;
  std::map<std::string, std::int64_t> restarts;
  // By "Role/index": not to be created before this.
  std::map<std::string, Time> not_before;
  // By "Role/index": uid of the pod whose failure the current attempt replaces.
  std::map<std::string, std::string> replaced;
  std::optional<Cause> cause;
  Limits limits;  // as last accepted; they hold while a bad edit freezes the job
  Phase phase = Phase::Created;
  // With a terminal phase: counts when it ended, because clean-up removes what they were counted
  // from.
  Counts final_counts;

  [[nodiscard]] json::Value to_json() const;
  // Never fails: what cannot be read is as if it had not been written.
  static Ledger from_json(const json::Value& value);

  friend bool operator==(const Ledger&, const Ledger&) = default;
};

std::string rank_key(std::string_view role, int index);

// What the engine thinks of a job now.
struct Verdict {
  Phase phase = Phase::Created;
  Counts counts;
  std::optional<Cause> cause;
  std::string waiting_for;  // one line, when nothing can be done just now
  Ledger ledger;

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// Something that happened and that the user can see as an event; each dialect has its own words.
struct Note {
  enum class Kind {
    PodCreated,
    PodsCreated,  // more than ten in one wave: subject is "count", e.g. "1000"
    PodDeleted,
    PodsDeleted,
    ObjectCreated,
    ObjectDeleted,
    CreateFailed,
    DeleteFailed,
    ContainerExited,  // subject pod, detail exit code
    Restarting,
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
