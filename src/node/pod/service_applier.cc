#include "node/pod/service_applier.h"

namespace muster::node {

std::vector<ServiceRule> ServiceApplier::begin() {
  applied_ = subject_.node.host.service_rules();
  return applied_ ? *applied_ : std::vector<ServiceRule>{};
}

ServiceRules ServiceApplier::missing() {
  auto wanted = subject_.node.host.service_rules();
  if (wanted == applied_) return nullptr;
  if (*wanted != *applied_) return wanted;
  applied_ = std::move(wanted);
  return nullptr;
}

Task<Result<void>> ServiceApplier::catch_up() {
  if (const auto wanted = missing()) {
    CO_TRY(co_await subject_.node.runtime.set_services(subject_.uid, *wanted));
    applied_ = wanted;
  }
  look();  // they may have moved on meanwhile
  co_return Result<void>{};
}

void ServiceApplier::look() {
  if (!subject_.facts.sandbox || following_ || !applied_ || !missing()) return;
  following_ = true;
  subject_.scope.spawn(follow());
}

// One at a time; what changes meanwhile is taken in the next round.
Task<void> ServiceApplier::follow() {
  while (subject_.facts.sandbox && !subject_.scope.stopping()) {
    const auto wanted = missing();
    if (!wanted) break;
    const auto applied = co_await subject_.node.runtime.set_services(subject_.uid, *wanted);
    if (applied) {
      applied_ = wanted;
      continue;
    }
    if (applied.error().code == ErrorCode::Cancelled) break;
    subject_.node.log.debug("{}: setting services: {}", subject_.key.text(),
                            applied.error().message);
    if (!co_await rt::sleep_for(subject_.node.loop, std::chrono::seconds(1))) break;
  }
  following_ = false;
}

}  // namespace muster::node
