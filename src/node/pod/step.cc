#include "node/pod/step.h"

#include <algorithm>
#include <utility>

#include "api/object.h"
#include "node/pod/turns.h"

namespace muster::node {

namespace {

constexpr std::int64_t kDefaultGraceSeconds = 30;
constexpr Duration kLongestRetry = std::chrono::seconds(30);

Duration retry_delay(int failures) {
  Duration delay = std::chrono::seconds(1);
  for (int i = 1; i < failures && delay < kLongestRetry; ++i) delay *= 2;
  return std::min(delay, kLongestRetry);
}

Duration grace_at(const json::Value& seconds) {
  return seconds_saturating(std::max<std::int64_t>(0, seconds.as_int(kDefaultGraceSeconds)));
}

class Stepper {
 public:
  Stepper(PodState state, PodFacts facts, const PodObservation& seen)
      : seen_(seen), out_{.next = state, .facts = std::move(facts)} {}

  PodStep take(const PodEvent& event) {
    std::visit([this](const auto& one) { on(one); }, event);
    // A copy: look() replaces the state that it looks from.
    const auto state = out_.next;
    std::visit([this](const auto& one) { look(one); }, state);
    return std::move(out_);
  }

 private:
  PodFacts& facts() { return out_.facts; }
  template <class State>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<State>(out_.next);
  }
  template <class State>
  void go(State next) {
    out_.next = std::move(next);
  }
  void act(PodAction action) { out_.actions.push_back(std::move(action)); }
  void wake(Time at) { out_.wake_at = out_.wake_at ? std::min(*out_.wake_at, at) : at; }

  // --- what just came about

  void on(const Changed&) {}

  void on(const PreparationDone&) {
    if (!is<Preparing>()) return tear_down_if_abandoned();
    for (auto& container : facts().containers) container.hold.reset();
    go(Prepared{});
  }

  void on(const PreparationFailed& event) {
    const auto* preparing = std::get_if<Preparing>(&out_.next);
    if (preparing == nullptr) return tear_down_if_abandoned();
    const int failures = preparing->failures + 1;
    const auto not_before = seen_.now + retry_delay(failures);
    for (auto& container : facts().containers) {
      if (container.running() || container.ending() != nullptr) continue;
      container.hold =
          Hold{.reason = "ContainerCreating", .message = event.message, .retry_at = not_before};
    }
    go(Unprepared{.failures = failures, .not_before = not_before});
  }

  void on(const PreparationCancelled&) {
    const auto* preparing = std::get_if<Preparing>(&out_.next);
    if (preparing == nullptr) return tear_down_if_abandoned();
    go(Unprepared{.failures = preparing->failures});
  }

  void on(const SandboxLost&) {
    if (is<Prepared>()) go(Unprepared{});
  }

  void on(const Poked&) {
    for (auto& container : facts().containers) {
      if (container.hold) container.hold->retry_at = {};
    }
    if (auto* unprepared = std::get_if<Unprepared>(&out_.next)) unprepared->not_before = {};
  }

  void on(const Evicted& event) {
    const bool lives = is<Unprepared>() || is<Preparing>() || is<Prepared>();
    if (!lives || facts().settled || facts().forgotten || facts().failure) return;
    facts().failure = {
        .reason = kEvictedReason, .message = event.message, .disruption = event.disruption};
    act(AnnounceFailure{*facts().failure});
  }

  void on(const TearDownDone&) {
    if (!is<TearingDown>()) return;
    facts().sandbox = false;
    go(TornDown{});
  }

  void on(const RemovalDone&) {
    if (is<Leaving>()) finish();
  }

  // --- what follows from where it stands now

  void look(const Unprepared& state) {
    if (look_at_the_end()) return;
    const auto turns = look_at_turns();
    const bool wanted = !turns.start.empty() || (facts().sandbox && !facts().settled);
    if (wanted && !facts().stopping) {
      if (state.not_before > seen_.now) {
        wake(state.not_before);
      } else {
        go(Preparing{.failures = state.failures});
        act(Prepare{});
        return;  // what is being made must be there before it can be taken down
      }
    }
    if (turns.final) go(Reporting{.phase = *turns.final});
  }

  void look(const Preparing&) {
    if (facts().forgotten) {
      facts().stopping = true;
      go(Abandoning{});
      act(KillSandbox{});
      return;
    }
    look_at_deadlines();
    look_at_turns();
  }

  void look(const Prepared&) {
    if (look_at_the_end()) return;
    const auto turns = look_at_turns();
    for (const auto& name : turns.start) {
      auto* container = facts().find(name);
      container->starting = true;
      act(StartContainer{.name = name, .attempt = container->next_attempt()});
    }
    if (turns.final) go(Reporting{.phase = *turns.final});
  }

  void look(const Reporting& state) {
    if (!seen_.reported && !facts().forgotten) return;
    if (api::is_finished(state.phase)) facts().settled = state.phase;
    tear_down();
  }

  void look(const Abandoning&) {}
  void look(const TearingDown&) {}

  void look(const TornDown&) {
    if (facts().forgotten) return finish();
    if (!api::is_deleting(seen_.pod)) return;
    go(Leaving{});
    act(RemoveFromApi{});
  }

  void look(const Leaving&) {}
  void look(const Done&) {}

  void look(const Unknown&) {
    if (!facts().forgotten && !api::is_deleting(seen_.pod)) return;
    facts().stopping = true;
    tear_down();
  }

  // True when nothing is to be decided about containers any more.
  bool look_at_the_end() {
    if (facts().forgotten) {
      facts().stopping = true;
      tear_down();
      return true;
    }
    look_at_deadlines();
    return false;
  }

  // Also when an earlier life decided on it.
  void look_at_eviction() {
    if (!facts().failure || facts().failure->reason != kEvictedReason) return;
    if (!std::exchange(facts().gives_room, true)) act(GiveRoom{});
    stop_all(Duration::zero());
  }

  void look_at_deadlines() {
    if (facts().settled) return;
    look_at_eviction();
    if (api::is_deleting(seen_.pod)) {
      stop_all(grace_at(seen_.pod["metadata"]["deletionGracePeriodSeconds"]));
    }
    const auto& limit = seen_.pod["spec"]["activeDeadlineSeconds"];
    if (!limit.is_int() || facts().stopping) return;
    const auto at = facts().start_time.value_or(seen_.now) + seconds_saturating(limit.as_int());
    if (at > seen_.now) return wake(at);
    facts().failure = {.reason = "DeadlineExceeded",
                       .message = "Pod was active on the node longer than the specified deadline"};
    act(AnnounceFailure{*facts().failure});
    stop_all(grace_at(seen_.pod["spec"]["terminationGracePeriodSeconds"]));
  }

  Turns look_at_turns() {
    auto turns = turns_of(facts(), seen_.back_off, seen_.now);
    if (turns.wake_at) wake(*turns.wake_at);
    const auto grace = grace_at(seen_.pod["spec"]["terminationGracePeriodSeconds"]);
    for (const auto& name : turns.stop) {
      act(StopContainer{.name = name, .attempt = facts().find(name)->attempt, .grace = grace});
    }
    return turns;
  }

  void stop_all(Duration grace) {
    facts().stopping = true;
    act(StopAll{.grace = grace});
  }
  void tear_down() {
    go(TearingDown{});
    act(TearDown{});
  }
  void tear_down_if_abandoned() {
    if (is<Abandoning>()) tear_down();
  }
  void finish() {
    go(Done{});
    act(Finish{});
  }

  const PodObservation& seen_;
  PodStep out_;
};

}  // namespace

PodStep step(PodState state, PodFacts facts, const PodEvent& event, const PodObservation& seen) {
  return Stepper(state, std::move(facts), seen).take(event);
}

}  // namespace muster::node
