#pragma once

#include <deque>
#include <optional>
#include <string>

#include "node/network/peer.h"
#include "node/pod/container_runner.h"
#include "node/pod/preparation.h"
#include "node/pod/status_writer.h"
#include "node/pod/step.h"
#include "node/pod/stopper.h"
#include "node/pod/subject.h"
#include "rt/task.h"

namespace muster::node {

// One pod's life on this node, from its sandbox to its removal from the API. Lives on the agent's
// loop. What it does next always follows from its state and the facts by step(); its parts only
// carry that out, bring the facts up to date and tell it. The runtime remembers every start, so
// that no container runs twice, whatever we forget. Ends with close().
class PodWorker {
 public:
  PodWorker(NodeServices& services, api::ObjectPtr pod, std::optional<AdoptedSandbox> adopted);
  PodWorker(const PodWorker&) = delete;
  PodWorker& operator=(const PodWorker&) = delete;

  void start();
  // A newer version of the same pod.
  void observe(api::ObjectPtr pod);
  // The API no longer has it: whatever runs is ended at once.
  void vanish() { subject_.forget(); }
  // A ConfigMap, a Secret, a service or a GPU that it may be waiting for.
  void poke() { tell(Poked{}); }
  void references_changed(const Reference& reference);
  void services_changed() { preparation_.services_changed(); }
  void evict(Evicted why) { tell(std::move(why)); }
  // It has a sandbox, and with that a place on the disk.
  [[nodiscard]] bool takes_room() const { return subject_.facts.sandbox && !done(); }

  [[nodiscard]] const std::string& uid() const { return subject_.uid; }
  // The pod with the status that we know, which the API may not have yet.
  [[nodiscard]] const api::ObjectPtr& view();
  // What of it matters to others on the node, without a copy of the pod.
  [[nodiscard]] const Reach& reach() const { return reach_; }
  [[nodiscard]] Peer as_peer() const { return {.pod = view_of_, .reach = reach_}; }
  [[nodiscard]] bool done() const { return in<Done>(); }
  // It is over and nothing of it is left here; the API has its end, and keeps it.
  [[nodiscard]] bool rests() const { return in<TornDown>() && subject_.facts.settled; }
  // Over or forgotten by the API, but still holding namespaces and mounts.
  [[nodiscard]] bool is_clearing() const;
  [[nodiscard]] bool vanished() const { return subject_.facts.forgotten; }
  Task<void> close();

 private:
  template <class State>
  [[nodiscard]] bool in() const {
    return std::holds_alternative<State>(state_);
  }
  void admit();
  void tell(PodEvent event);
  Task<void> run();
  Task<void> wait_for_event();
  void advance(const PodEvent& event);
  void refresh_view();

  void perform(const Prepare&) { preparation_.begin(); }
  void perform(const KillSandbox&) { subject_.scope.spawn(kill_sandbox()); }
  void perform(const StartContainer& action) { runner_.start(action.name, action.attempt); }
  void perform(const StopContainer& action) {
    stopper_.stop(action.name, action.attempt, action.grace);
  }
  void perform(const StopAll& action) { stopper_.stop_all(action.grace); }
  void perform(const GiveRoom&) { subject_.scope.spawn(give_room()); }
  void perform(const AnnounceFailure& action);
  void perform(const TearDown&) { subject_.scope.spawn(tear_down()); }
  void perform(const RemoveFromApi&) { subject_.scope.spawn(remove_from_api()); }
  void perform(const Finish&) { subject_.node.host.pod_done(subject_.uid); }

  Task<void> kill_sandbox();
  Task<void> give_room();
  [[nodiscard]] bool is_awaited() const;
  Task<void> tear_down();
  Task<void> remove_from_api();

  PodSubject subject_;
  std::optional<AdoptedSandbox> adopted_;
  PodState state_ = Unprepared{};
  std::deque<PodEvent> events_;
  std::optional<Time> wake_at_;
  // What the view is made of, and the view itself once somebody asked for it: a copy of the pod
  // for each of its events would be a tenth of what a short pod costs.
  api::ObjectPtr view_of_;
  PodStatusWriter::Status status_;
  api::ObjectPtr view_;
  Reach reach_;
  PodStopper stopper_;
  PodPreparation preparation_;
  ContainerRunner runner_;
  PodStatusWriter writer_;
};

}  // namespace muster::node
