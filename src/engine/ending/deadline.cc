#include "engine/ending/deadline.h"

namespace muster::engine {

std::optional<Time> deadline_of(const plan::Ledger& ledger) {
  if (!ledger.limits.deadline_seconds || !ledger.start_time) return std::nullopt;
  if (ledger.phase == plan::Phase::Suspended) return std::nullopt;
  return *ledger.start_time + seconds_saturating(*ledger.limits.deadline_seconds);
}

std::optional<Time> expiry_of(const plan::Ledger& ledger) {
  if (!plan::is_terminal(ledger.phase)) return std::nullopt;
  if (!ledger.limits.ttl_seconds || !ledger.completion_time) return std::nullopt;
  return *ledger.completion_time + seconds_saturating(*ledger.limits.ttl_seconds);
}

}  // namespace muster::engine
