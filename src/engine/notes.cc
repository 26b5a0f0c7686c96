#include "engine/notes.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/ending/outcome.h"

namespace muster::engine {
namespace {

using plan::Cause;
using plan::Note;

// Nobody reads more of a kind at once; what is left out is found again at the next look.
constexpr std::size_t kMostNotes = 10;

Note exit_note(const Cause& cause) {
  return {.kind = Note::Kind::ContainerExited,
          .object_kind = "Pod",
          .subject = cause.pod,
          .detail = std::to_string(*cause.exit_code)};
}

// What waits for an object of ours that gates containers is where it should be.
bool waits_at_gate(const plan::Plan& plan, const ContainerView& container) {
  return std::ranges::any_of(plan.objects, [&](const plan::Object& object) {
    return object.on_change == plan::OnChange::Replace &&
           container.message.contains(fmt::format("\"{}\" not found", object.id.name));
  });
}

}  // namespace

std::optional<Note> epoch_note(EpochChange change, const plan::Plan& plan) {
  switch (change) {
    case EpochChange::None:
    case EpochChange::Adopted:
      break;
    case EpochChange::Held:
      return Note{.kind = Note::Kind::Suspended, .detail = plan.run_key};
    case EpochChange::Resumed:
      return Note{.kind = Note::Kind::Resumed, .detail = plan.run_key};
    case EpochChange::Renewed:
      return Note{.kind = Note::Kind::Renewed, .detail = plan.run_key};
  }
  return std::nullopt;
}

void note_end(plan::Phase phase, const std::optional<Cause>& cause, std::vector<Note>& notes) {
  if (cause && cause->exit_code) notes.push_back(exit_note(*cause));
  const bool good = phase == plan::Phase::Succeeded;
  notes.push_back({.kind = good ? Note::Kind::Succeeded : Note::Kind::Failed, .cause = cause});
}

void note_exits(const std::vector<const Rank*>& failed_anew, std::vector<Note>& notes) {
  std::vector<Note> exits;
  for (const Rank* rank : failed_anew) {
    const Cause cause = cause_of(*rank);
    if (cause.exit_code) exits.push_back(exit_note(cause));
  }
  if (exits.size() <= kMostNotes) {
    std::ranges::move(exits, std::back_inserter(notes));
    return;
  }
  notes.push_back({.kind = Note::Kind::ContainersExited,
                   .object_kind = "Pod",
                   .subject = std::to_string(exits.size()),
                   .detail = exits.front().detail});
}

void note_abnormal(const plan::Plan& plan, const Census& census, std::vector<Note>& notes) {
  std::size_t noted = 0;
  for (const Rank& rank : census.ranks()) {
    if (!rank.lives()) continue;
    for (const ContainerView& container : rank.pod->containers) {
      if (container.running || container.exit_code || container.message.empty()) continue;
      if (waits_at_gate(plan, container)) continue;
      if (noted++ == kMostNotes) return;
      notes.push_back({.kind = Note::Kind::Warning,
                       .subject = rank.pod->name,
                       .reason = container.reason,
                       .detail = fmt::format("Pod {} container {}: {}", rank.pod->name,
                                             container.name, container.message)});
    }
  }
}

}  // namespace muster::engine
