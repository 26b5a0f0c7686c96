#include "trainer/rendezvous.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "trainer/node_id.h"

namespace muster::trainer {

Rendezvous::Effects Rendezvous::on_registration(ConnectionId connection,
                                                Registration registration) {
  Effects effects;
  if (phase_ == Phase::Finished) {
    // A worker that was stopped after its last word and before its end.
    effects.send.push_back({.to = connection, .line = encode(Finished{}), .is_last = true});
    return effects;
  }
  if (members_.contains(connection)) {
    effects = on_closed(connection);
    effects.notes.push_back(registration.node_id + " registered twice on one connection");
    effects.send.push_back({.to = connection, .line = "", .is_last = true});
    return effects;
  }
  const auto predecessor = find(registration.node_id);
  if (phase_ == Phase::Training) {
    if (predecessor == members_.end()) {
      const std::string reason =
          fmt::format("{} is one too many: all {} workers of MS_WORKER_NUM are there",
                      registration.node_id, workers_);
      effects.notes.push_back(reason);
      effects.send.push_back({.to = connection, .line = encode(Rejected{reason}), .is_last = true});
      return effects;
    }
    // Its earlier process can be gone without a word, for instance with its machine: the newest one
    // counts.
    abandon_generation(registration.node_id, effects);
  } else if (predecessor != members_.end()) {
    effects.send.push_back({.to = predecessor->first, .line = "", .is_last = true});
    members_.erase(predecessor);
  }
  add(connection, std::move(registration), effects);
  return effects;
}

Rendezvous::Effects Rendezvous::on_done(ConnectionId connection, Done done) {
  Effects effects;
  const auto member = members_.find(connection);
  if (phase_ != Phase::Training || member == members_.end() || done.generation != generation_) {
    return effects;  // a last word from a generation that was abandoned while it travelled
  }
  member->second.is_done = true;
  if (std::ranges::all_of(members_, [](const auto& entry) { return entry.second.is_done; })) {
    finish(effects);
  }
  return effects;
}

Rendezvous::Effects Rendezvous::on_closed(ConnectionId connection) {
  Effects effects;
  const auto member = members_.find(connection);
  if (member == members_.end()) {
    return effects;
  }
  const std::string node_id = member->second.registration.node_id;
  members_.erase(member);
  if (phase_ == Phase::Training) {
    // Also when it had said that it is done: until everyone is, its ring neighbours may need it
    // once more.
    abandon_generation(node_id, effects);
  }
  return effects;
}

void Rendezvous::add(ConnectionId connection, Registration registration, Effects& effects) {
  if (!members_.empty()) {
    const Registration& other = members_.begin()->second.registration;
    if (other.digest != registration.digest) {
      const std::string reason = fmt::format(
          "{} was started with other hyper-parameters than {}: give all workers the same flags",
          registration.node_id, other.node_id);
      effects.notes.push_back(reason);
      effects.send.push_back({.to = connection, .line = encode(Rejected{reason}), .is_last = true});
      return;
    }
  }
  effects.notes.push_back(
      fmt::format("{} registered, {} of {}", registration.node_id, members_.size() + 1, workers_));
  members_.emplace(connection, Member{.registration = std::move(registration)});
  if (members_.size() == workers_) {
    start_generation(effects);
  }
}

void Rendezvous::start_generation(Effects& effects) {
  std::vector<std::pair<ConnectionId, const Registration*>> ranked;
  std::vector<std::vector<std::uint64_t>> steps;
  for (const auto& [connection, member] : members_) {
    ranked.emplace_back(connection, &member.registration);
    steps.push_back(member.registration.steps);
  }
  std::ranges::sort(ranked, [](const auto& left, const auto& right) {
    return comes_before(left.second->node_id, right.second->node_id);
  });

  phase_ = Phase::Training;
  Start start{.generation = ++generation_,
              .session = session_,
              .rank = 0,
              .resume_step = greatest_common_step(steps),
              .peers = {}};
  for (const auto& [connection, registration] : ranked) {
    start.peers.push_back({.node_id = registration->node_id, .endpoint = registration->endpoint});
  }
  for (const auto& [connection, registration] : ranked) {
    effects.send.push_back({.to = connection, .line = encode(start), .is_last = false});
    ++start.rank;
  }
  effects.notes.push_back(fmt::format("generation {}: {} workers are there, starting after step {}",
                                      generation_, workers_, start.resume_step));
}

void Rendezvous::abandon_generation(const std::string& lost, Effects& effects) {
  for (const auto& [connection, member] : members_) {
    effects.send.push_back({.to = connection, .line = encode(Lost{lost}), .is_last = true});
  }
  effects.notes.push_back(fmt::format("generation {}: {} was lost, waiting for {} workers again",
                                      generation_, lost, workers_));
  members_.clear();
  phase_ = Phase::Gathering;
}

void Rendezvous::finish(Effects& effects) {
  for (const auto& [connection, member] : members_) {
    effects.send.push_back({.to = connection, .line = encode(Finished{}), .is_last = true});
  }
  effects.notes.push_back(
      fmt::format("generation {}: all {} workers are done", generation_, workers_));
  members_.clear();
  phase_ = Phase::Finished;
}

Rendezvous::Members::iterator Rendezvous::find(const std::string& node_id) {
  return std::ranges::find_if(
      members_, [&](const auto& entry) { return entry.second.registration.node_id == node_id; });
}

std::uint64_t greatest_common_step(const std::vector<std::vector<std::uint64_t>>& lists) {
  std::uint64_t greatest = 0;
  if (lists.empty()) {
    return greatest;
  }
  for (const std::uint64_t step : lists.front()) {
    const bool is_common = std::ranges::all_of(
        lists, [step](const auto& list) { return std::ranges::find(list, step) != list.end(); });
    greatest = is_common ? std::max(greatest, step) : greatest;
  }
  return greatest;
}

}  // namespace muster::trainer
