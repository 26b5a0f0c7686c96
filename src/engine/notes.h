#pragma once

#include <optional>
#include <vector>

#include "engine/census.h"
#include "engine/hold.h"
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

// What keeps pods from running; the controller says each only once.
void note_abnormal(const plan::Plan& plan, const Census& census, std::vector<plan::Note>& notes);

}  // namespace muster::engine
