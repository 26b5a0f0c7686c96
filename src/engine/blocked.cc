#include "engine/blocked.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/ending/end.h"

namespace muster::engine {
namespace {

// Who has just begun to look lets the nodes answer first: on one machine they begin with us.
constexpr Duration kFirstPatience = std::chrono::seconds(10);

Time known_at(const PodView& pod, const Observed& observed) {
  if (!observed.first_look || observed.ledger.blocked.contains(pod.silence->node))
    return pod.silence->known;
  return std::max(pod.silence->known, *observed.first_look + kFirstPatience);
}

plan::BlockedNodes blocked_nodes(const Observed& observed, Time now, Decision& decision) {
  plan::BlockedNodes nodes;
  for (const PodView& pod : observed.pods) {
    if (!pod.silence || pod.index < 0) continue;
    if (const Time known = known_at(pod, observed); now < known) {
      wake_no_later_than(decision, known);
      continue;
    }
    auto [node, first] = nodes.try_emplace(pod.silence->node);
    const Time since = pod.silence->since;
    node->second.since = first ? since : std::min(node->second.since, since);
    node->second.ranks[pod.role].insert(pod.index);
  }
  return nodes;
}

plan::Note note_of(const plan::JobRef& job, const std::string& name,
                   const plan::BlockedNode& node) {
  return {.kind = plan::Note::Kind::Warning,
          .subject = name,
          .reason = "BlockedOnNode",
          .detail = fmt::format("Node {} has not answered since {}; the ranks there are not made "
                                "anew before their pods are gone. To go on, {}",
                                name, format_time(node.since),
                                plan::blocked_remedy(job.ns, job.uid, name))};
}

}  // namespace

void name_blocked_nodes(const plan::JobRef& job, const Observed& observed, Time now,
                        Decision& decision) {
  plan::BlockedNodes nodes = blocked_nodes(observed, now, decision);
  while (nodes.size() > plan::kMostBlockedNodes) nodes.erase(std::prev(nodes.end()));
  for (auto& [name, node] : nodes) {
    const auto told = observed.ledger.blocked.find(name);
    if (told == observed.ledger.blocked.end()) {
      decision.notes.push_back(note_of(job, name, node));
    } else {
      node.since = told->second.since;  // the first that was said stays true
    }
  }
  plan::Verdict& verdict = decision.verdict;
  if (!nodes.empty() && verdict.waiting_for.empty())
    verdict.waiting_for = fmt::format("node {} to answer", nodes.begin()->first);
  verdict.ledger.blocked = std::move(nodes);
}

}  // namespace muster::engine
