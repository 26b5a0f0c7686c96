#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/cluster.h"

namespace muster::cli {

// What keeps the pods of a job from running.
struct Waiting {
  std::string reason;   // one word, as the API has it: Unschedulable, CrashLoopBackOff
  std::string message;  // in the words of whoever lets it wait
  std::string remedy;   // what would unblock it; empty: time alone, or the message says it
  std::optional<Time> since;
  bool for_ever = false;  // no time would: only another manifest or another machine
  int pods = 0;           // that wait for this reason
  std::string node;       // that does not answer, if this is the reason
};

// The reason that matters most of all those for which these pods wait; nothing when none does, or
// when they are just being made.
std::optional<Waiting> why_waiting(const std::vector<cluster::ObjectPtr>& pods);

// Nodes that do not answer come before all of that: no time helps there. What the job says of them,
// each node for itself.
std::vector<Waiting> blocked_on_nodes(const json::Value& job);
std::optional<Waiting> why_waiting(const json::Value& job,
                                   const std::vector<cluster::ObjectPtr>& pods);

}  // namespace muster::cli
