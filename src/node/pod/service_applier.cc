#include "node/pod/service_applier.h"

namespace muster::node {

Task<Result<void>> ServiceApplier::apply_first() {
  applied_ = subject_.node.host.service_rules();
  const auto rules = applied_ ? *applied_ : std::vector<ServiceRule>{};
  CO_TRY(co_await subject_.node.runtime.set_services(subject_.uid, rules));
  look();  // they may have moved on meanwhile
  co_return Result<void>{};
}

void ServiceApplier::look() {
  if (!subject_.facts.sandbox || following_ || !applied_) return;
  if (subject_.node.host.service_rules() == applied_) return;
  following_ = true;
  subject_.scope.spawn(follow());
}

// One at a time; what changes meanwhile is taken in the next round.
Task<void> ServiceApplier::follow() {
  while (subject_.facts.sandbox && !subject_.scope.stopping()) {
    const auto wanted = subject_.node.host.service_rules();
    if (wanted == applied_) break;
    const bool same = *wanted == *applied_;
    if (!same) {
      const auto applied = co_await subject_.node.runtime.set_services(subject_.uid, *wanted);
      if (!applied) {
        if (applied.error().code == ErrorCode::Cancelled) break;
        subject_.node.log.debug("{}: setting services: {}", subject_.key.text(),
                                applied.error().message);
        const auto slept = co_await rt::sleep_for(subject_.node.loop, std::chrono::seconds(1));
        if (!slept) break;
        continue;
      }
    }
    applied_ = wanted;
  }
  following_ = false;
}

}  // namespace muster::node
