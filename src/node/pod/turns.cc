#include "node/pod/turns.h"

#include <algorithm>

namespace muster::node {

namespace {

using Role = ContainerFacts::Role;

class TurnFinder {
 public:
  TurnFinder(const PodFacts& facts, const BackOffOptions& options, Time now)
      : facts_(facts), options_(options), now_(now) {}

  Turns find() {
    if (facts_.settled) return {.final = facts_.settled};
    if (facts_.stopping) {
      if (nothing_runs()) out_.final = phase_of(facts_);
      return out_;
    }
    if (!init_phase()) return out_;
    main_phase();
    return out_;
  }

 private:
  bool nothing_runs() const {
    return std::ranges::none_of(facts_.containers,
                                [](const auto& c) { return c.running() || c.starting; });
  }

  // Starts it now, or says when.
  void want(const ContainerFacts& container) {
    if (container.starting || container.running()) return;
    auto at = restart_at(options_, container);
    if (container.hold) at = std::max(at, container.hold->retry_at);
    if (at > now_) {
      out_.wake_at = out_.wake_at ? std::min(*out_.wake_at, at) : at;
      return;
    }
    out_.start.push_back(container.name);
  }

  // True when the main containers may run.
  bool init_phase() {
    // A pod whose main containers ran does not run its init containers again; sidecars come back.
    const bool began = std::ranges::any_of(facts_.containers, [](const auto& c) {
      return c.role == Role::Main && (c.running() || c.starting || c.ending() || c.attempt > 0);
    });
    for (const auto& container : facts_.containers) {
      if (container.role == Role::Main) break;
      if (began && container.role == Role::Init) continue;
      if (lets_others_begin(container)) continue;
      if (failed_for_good(facts_, container)) {
        finish_when_quiet();
        return false;
      }
      if (began && all_main_over()) continue;  // no sidecar comes back for nobody
      want(container);
      if (!began) return false;
    }
    return true;
  }

  bool all_main_over() const {
    return std::ranges::all_of(facts_.containers, [this](const auto& c) {
      return c.role != Role::Main ||
             (c.ending() != nullptr && !wants_restart(facts_.restart_policy, c));
    });
  }

  void main_phase() {
    if (all_main_over()) {
      finish_when_quiet();
      return;
    }
    for (const auto& container : facts_.containers) {
      if (container.role != Role::Main) continue;
      const bool over =
          container.ending() != nullptr && !wants_restart(facts_.restart_policy, container);
      if (!over) want(container);
    }
  }

  void finish_when_quiet() {
    for (const auto& container : facts_.containers) {
      if (container.role == Role::Sidecar && container.running())
        out_.stop.push_back(container.name);
    }
    if (nothing_runs()) out_.final = phase_of(facts_);
  }

  const PodFacts& facts_;
  const BackOffOptions& options_;
  Time now_;
  Turns out_;
};

}  // namespace

Turns turns_of(const PodFacts& facts, const BackOffOptions& options, Time now) {
  return TurnFinder(facts, options, now).find();
}

}  // namespace muster::node
