#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/census.h"
#include "engine/children.h"
#include "engine/hold.h"
#include "plan/ledger.h"
#include "plan/plan.h"
#include "plan/verdict.h"

// What a decision tells the user beside the status: the notes that become events.
namespace muster::engine {

// Another run began; nothing when the user did not cause it.
std::optional<plan::Note> epoch_note(EpochChange change, const plan::Plan& plan);

// How the job ended.
void note_end(plan::Phase phase, const std::optional<plan::Cause>& cause,
              std::vector<plan::Note>& notes);

// Main containers that ended and whose ranks are tried again.
void note_exits(const std::vector<const Rank*>& failed_anew, std::vector<plan::Note>& notes);

// An object of ours that gates containers and that their nodes need not have seen: it is not there,
// or was made lately.
struct Gate {
  std::string name;
  std::optional<Time> seen;  // when all nodes have looked again; none while it is not there
};
std::vector<Gate> gates_of(const plan::Plan& plan, const Children& children,
                           const plan::Ledger& ledger, Time now);

// What keeps pods from running; the controller says each only once. Who waits at a gate is where he
// should be: the answer is when to look at him again.
std::optional<Time> note_abnormal(const Census& census, const std::vector<Gate>& gates,
                                  std::vector<plan::Note>& notes);

// What keeps ranks from starting, as the end of "waiting for": the first of them, why, and how many
// others there are. Empty when nothing does.
struct Delay {
  std::string text;
  std::optional<Time> look_again;  // when somebody will have waited for too long
};
Delay delay_of(const Census& census, const std::vector<Gate>& gates, Time now);

}  // namespace muster::engine
