#include "engine/notes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
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

// Kubelets look again at a container that lacks a reference within a minute and a half.
constexpr Duration kNodesLookAgain = std::chrono::minutes(2);

// Whoever is placed within this time has not been kept waiting: a pod is made before its node knows
// what others have freed.
constexpr Duration kPlacedByThen = std::chrono::seconds(5);

// What a status carries of somebody else's words.
constexpr std::size_t kMostOfMessage = 300;

// It waits, and its node says why. One that is just being made says nothing.
bool is_held_up(const ContainerView& container) {
  return !container.running && !container.exit_code && !container.message.empty();
}

// The gate at which a container waits, by the name that its node gives for what it lacks.
const Gate* gate_before(const ContainerView& container, const std::vector<Gate>& gates) {
  const auto named = [&](const Gate& gate) {
    return container.message.contains(fmt::format("\"{}\"", gate.name));
  };
  const auto found = std::ranges::find_if(gates, named);
  return found == gates.end() ? nullptr : &*found;
}

// What keeps a living rank from starting: "to start: REASON: MESSAGE"; empty when nothing does.
std::string holds_up(const Rank& rank, const std::vector<Gate>& gates, Time now, Delay& delay) {
  const PodView& pod = *rank.pod;
  if (pod.unplaced) {
    const Time due = pod.unplaced->since.value_or(now) + kPlacedByThen;
    if (now >= due) return fmt::format("to be placed on a node: {}", pod.unplaced->message);
    delay.look_again = std::min(delay.look_again.value_or(due), due);
    return {};
  }
  for (const ContainerView& container : pod.containers) {
    if (!is_held_up(container) || gate_before(container, gates) != nullptr) continue;
    return fmt::format("to start{}: {}: {}", container.restarts > 0 ? " again" : "",
                       container.reason, container.message);
  }
  return {};
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

std::vector<Gate> gates_of(const plan::Plan& plan, const Children& children,
                           const plan::Ledger& ledger, Time now) {
  std::vector<Gate> gates;
  for (const plan::Object& object : plan.objects) {
    if (object.on_change != plan::OnChange::Replace) continue;
    for (int index = 0; index < copies(plan, object); ++index) {
      const std::string name = object_name(plan, object, index, ledger);
      const ObjectView* found = children.object(object.id.resource, name);
      if (found == nullptr || found->deleting) {
        gates.push_back({.name = name});
      } else if (found->made_at && now < *found->made_at + kNodesLookAgain) {
        gates.push_back({.name = name, .seen = *found->made_at + kNodesLookAgain});
      }
    }
  }
  return gates;
}

std::optional<Time> note_abnormal(const Census& census, const std::vector<Gate>& gates,
                                  std::vector<Note>& notes) {
  std::size_t noted = 0;
  std::optional<Time> again;
  for (const Rank& rank : census.ranks()) {
    if (!rank.lives()) continue;
    for (const ContainerView& container : rank.pod->containers) {
      if (!is_held_up(container)) continue;
      if (const Gate* gate = gate_before(container, gates); gate != nullptr) {
        again = gate->seen;
        continue;
      }
      if (noted++ == kMostNotes) return again;
      notes.push_back({.kind = Note::Kind::Warning,
                       .subject = rank.pod->name,
                       .reason = container.reason,
                       .detail = fmt::format("Pod {} container {}: {}", rank.pod->name,
                                             container.name, container.message)});
    }
  }
  return again;
}

Delay delay_of(const Census& census, const std::vector<Gate>& gates, Time now) {
  Delay delay;
  int others = 0;
  for (const Rank& rank : census.ranks()) {
    if (!rank.lives()) continue;
    const std::string why = holds_up(rank, gates, now, delay);
    if (why.empty()) continue;
    if (!delay.text.empty()) {
      ++others;
      continue;
    }
    delay.text =
        fmt::format("{} {} {}", rank.role->name, rank.index, shortened(why, kMostOfMessage));
  }
  if (others > 0) delay.text += fmt::format(" ({} more wait too)", others);
  return delay;
}

}  // namespace muster::engine
