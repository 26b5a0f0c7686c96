#include "engine/hold.h"

namespace muster::engine {
namespace {

// Tries and waits belong to an epoch; what was counted and reported is kept, and so are the tries
// of roles that remember. Whoever of theirs is alive now goes by our doing.
void begin_anew(const plan::Plan& plan, plan::Ledger& ledger) {
  for (auto& [name, role] : ledger.roles) {
    const plan::Role* planned = plan.role(name);
    if (planned == nullptr || !planned->remembers()) role.attempts.clear();
    role.seen.clear();
    role.not_before.clear();
    role.recovering.clear();
  }
  ledger.cause.reset();
}

}  // namespace

EpochChange enter_epoch(const plan::Plan& plan, plan::Ledger& ledger, Time now) {
  if (plan.run_key == ledger.run_key) return EpochChange::None;
  const bool first = !ledger.start_time && ledger.epoch == 0 && ledger.run_key.empty();
  const bool held = ledger.phase == plan::Phase::Suspended;
  ledger.run_key = plan.run_key;
  if (first && !plan.hold) return EpochChange::Adopted;
  ++ledger.epoch;
  begin_anew(plan, ledger);
  if (plan.hold) {
    ledger.phase = plan::Phase::Suspended;
    return EpochChange::Held;
  }
  ledger.phase = plan::Phase::Created;
  ledger.start_time = now;
  if (!held) return EpochChange::Renewed;
  ledger.resumed = ledger.epoch;
  return EpochChange::Resumed;
}

}  // namespace muster::engine
