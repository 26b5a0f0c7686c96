#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "plan/blocked.h"
#include "plan/index_counts.h"
#include "plan/index_set.h"
#include "plan/plan.h"
#include "plan/verdict.h"

namespace muster::plan {

// What is remembered of one role's ranks.
struct RoleLedger {
  IndexCounts attempts;            // how often each was made anew
  std::map<int, Time> not_before;  // by index: not to be created before this
  IndexSet recovering;             // made anew and not yet seen to run
  // Restarts of pods that are gone, and the sum last reported, so that sums never fall.
  std::int64_t retired = 0;
  std::int64_t restarts = 0;
  std::int64_t disruptions = 0;  // those of them that the cluster caused: no limit counts them
  // Of a role that remembers: who has succeeded, and whose pod was last seen alive. A pod that was
  // seen and is gone without having ended was lost.
  IndexSet done;
  IndexSet seen;
  std::int64_t failures_in_a_row = 0;  // since the last success
  std::optional<Time> pause_until;     // no pod of the role is created before this

  friend bool operator==(const RoleLedger&, const RoleLedger&) = default;
};

// The few facts that cannot be seen in the cluster, kept in status.muster. Each is written before
// the deletion that it justifies.
struct Ledger {
  std::int64_t observed_generation = 0;
  std::int64_t epoch = 0;
  std::string run_key;       // of the plan that began the epoch
  std::int64_t resumed = 0;  // the epoch that began with the last resume; 0: there was none
  std::optional<Time> start_time;
  std::optional<Time> completion_time;
  std::map<std::string, RoleLedger> roles;  // by name
  std::optional<Cause> cause;
  std::map<std::string, std::string> fixed;  // Plan::fixed, as first seen
  Limits limits;  // as last accepted; they hold while a bad edit freezes the job
  Phase phase = Phase::Created;
  // With a terminal phase: counts when it ended and what was said of it then, because clean-up
  // removes what they were read from.
  Counts final_counts;
  std::string remark;
  // Nodes that do not answer and hold pods of the job; at most kMostBlockedNodes.
  BlockedNodes blocked;

  // Let go after a suspension, and not yet seen to run.
  [[nodiscard]] bool is_resuming() const {
    return resumed > 0 && resumed == epoch && phase == Phase::Created;
  }
  // The first field that the plan has in another way than it was fixed; empty when there is none.
  [[nodiscard]] std::string changed(const Plan& plan) const;
  [[nodiscard]] bool recovering() const;
  [[nodiscard]] std::int64_t restarts() const;  // of all roles

  [[nodiscard]] json::Value to_json() const;
  // Never fails: what cannot be read is as if it had not been written.
  static Ledger from_json(const json::Value& value);

  friend bool operator==(const Ledger&, const Ledger&) = default;
};

// What the engine thinks of a job now.
struct Verdict {
  Phase phase = Phase::Created;
  Counts counts;
  std::optional<Cause> cause;
  std::string remark;             // one line about how it ended, of a role that remarks
  std::string waiting_for;        // one line, when nothing can be done just now
  bool leaving = false;           // the job itself is being deleted
  std::vector<RankReport> ranks;  // where the plan asks for them; none after the end
  Ledger ledger;

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// The member of every kind's status that is ours.
inline constexpr std::string_view kStatusKey = "muster";

// Its content: the ledger, and what the printed columns and the scale subresource show. `old` is
// what is stored; a job whose edit is invalid has no roles, and keeps what was shown of them.
json::Value muster_status(const Plan& plan, const json::Value& old, const Verdict& verdict);

}  // namespace muster::plan
