#include "node/pod/worker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/object.h"
#include "node/pod/admission/admission.h"
#include "node/pod/status.h"

namespace muster::node {

namespace {

constexpr Duration kRetry = std::chrono::seconds(1);

bool same_labels(const json::Value& before, const json::Value& now) {
  const auto& old = before["metadata"];
  const auto& fresh = now["metadata"];
  return old["labels"] == fresh["labels"] && old["annotations"] == fresh["annotations"];
}

}  // namespace

PodWorker::PodWorker(NodeServices& services, api::ObjectPtr pod,
                     std::optional<AdoptedSandbox> adopted)
    : subject_(services, std::move(pod), [this](PodEvent event) { tell(std::move(event)); }),
      adopted_(std::move(adopted)),
      view_of_(subject_.pod),
      reach_(reach_of((*subject_.pod)["status"])),
      stopper_(subject_),
      preparation_(subject_),
      runner_(subject_, preparation_, stopper_),
      writer_(subject_) {}

void PodWorker::start() {
  subject_.node.references.acquire(subject_.key.ns, preparation_.references());
  const bool unknown = adopted_ && !adopted_->unknown.empty();
  if (unknown && !subject_.facts.settled) {
    state_ = Unknown{};
    subject_.facts.unknown = adopted_->unknown;
    subject_.event(EventSeverity::Warning, kUnknownReason, adopted_->unknown);
  } else if (!subject_.facts.settled) {
    if (adopted_) runner_.adopt(*adopted_);
    runner_.mark_lost();
    if (!adopted_) admit();
  }
  events_.emplace_back(Changed{});
  subject_.scope.spawn(run());
  writer_.start();
}

// Before anything of it is made. What ran already goes on, whatever an older node let through.
void PodWorker::admit() {
  const bool ran = std::ranges::any_of(subject_.facts.containers, [](const auto& container) {
    return container.ending() != nullptr || container.attempt > 0;
  });
  if (ran) return;
  auto refusal = refusal_of(*subject_.pod);
  if (!refusal) {
    if (auto why = refusal_in(subject_.node.options.tier, *subject_.pod)) {
      refusal = {.reason = std::string(admission::kUnsupportedField), .message = std::move(*why)};
    }
  }
  if (!refusal) return;
  subject_.event(EventSeverity::Warning, refusal->reason, refusal->message);
  subject_.facts.failure = std::move(refusal);
  subject_.facts.refused = true;
  subject_.facts.stopping = true;
}

Task<void> PodWorker::close() {
  co_await subject_.scope.close();
  co_await runner_.close();
  subject_.node.references.release(subject_.key.ns, preparation_.references());
}

bool PodWorker::is_clearing() const {
  return !done() &&
         (vanished() || in<TearingDown>() || (subject_.facts.settled && subject_.facts.sandbox));
}

void PodWorker::observe(api::ObjectPtr pod) {
  const auto before = std::exchange(subject_.pod, std::move(pod));
  const auto added = [](const json::Value& one) { return one["spec"]["ephemeralContainers"]; };
  if (added(*before) != added(*subject_.pod)) {
    if (const auto refusal = refusal_of(*subject_.pod))
      subject_.event(EventSeverity::Warning, refusal->reason, refusal->message);
  }
  // Downward volumes show them.
  if (in<Prepared>() && !same_labels(*before, *subject_.pod)) preparation_.refresh();
  tell(Changed{});
  refresh_view();
}

void PodWorker::references_changed(const Reference& reference) {
  if (!preparation_.references().contains(reference)) return;
  preparation_.references_changed();
  if (in<Prepared>()) preparation_.refresh();
  poke();
}

void PodWorker::tell(PodEvent event) {
  const bool known = std::holds_alternative<Changed>(event) && !events_.empty() &&
                     std::holds_alternative<Changed>(events_.back());
  if (!known) events_.push_back(std::move(event));
  subject_.changed.pulse();
}

void PodWorker::refresh_view() {
  auto status = writer_.desired();
  if (status == status_ && view_of_ == subject_.pod) return;
  view_of_ = subject_.pod;
  view_.reset();
  status_ = std::move(status);
  auto reach = reach_of(*status_);
  if (reach != reach_) subject_.node.host.pod_changed();
  reach_ = std::move(reach);
  writer_.look(status_);
}

const api::ObjectPtr& PodWorker::view() {
  if (view_) return view_;
  if (!status_ || *status_ == (*view_of_)["status"]) return view_ = view_of_;
  auto shown = *view_of_;
  shown["status"] = *status_;
  return view_ = std::make_shared<const json::Value>(std::move(shown));
}

Task<void> PodWorker::run() {
  while (!subject_.scope.stopping() && !done()) {
    co_await wait_for_event();
    if (subject_.scope.stopping()) co_return;
    PodEvent event = Changed{};
    if (!events_.empty()) {
      event = std::move(events_.front());
      events_.pop_front();
    }
    advance(event);
  }
}

Task<void> PodWorker::wait_for_event() {
  while (events_.empty() && !subject_.scope.stopping()) {
    if (!wake_at_) {
      [[maybe_unused]] const auto waited = co_await subject_.changed.wait();
      continue;
    }
    const auto left = *wake_at_ - subject_.now();
    if (left <= Duration::zero()) co_return;
    [[maybe_unused]] const auto waited =
        co_await rt::with_timeout(subject_.node.loop, left, subject_.changed.wait());
  }
}

// Looks at everything anew and sets in motion what follows from it.
void PodWorker::advance(const PodEvent& event) {
  const bool asks = in<Reporting>();  // nobody else, and it takes a while to work out
  const PodObservation seen{.pod = *subject_.pod,
                            .back_off = subject_.node.options.back_off,
                            .reported = asks && writer_.settled(writer_.desired()),
                            .now = subject_.now()};
  const auto before = state_.index();
  auto next = step(state_, std::move(subject_.facts), event, seen);
  const bool moved = next.next.index() != before;
  state_ = next.next;
  subject_.facts = std::move(next.facts);
  wake_at_ = next.wake_at;
  refresh_view();
  for (const auto& action : next.actions) {
    std::visit([this](const auto& one) { perform(one); }, action);
  }
  // From its new state something may follow at once.
  if (moved) events_.emplace_back(Changed{});
  if (rests()) subject_.node.host.pod_rests(subject_.uid);
}

void PodWorker::perform(const AnnounceFailure& action) {
  const bool evicted = action.failure.reason == kEvictedReason;
  subject_.event(evicted ? EventSeverity::Warning : EventSeverity::Normal, action.failure.reason,
                 action.failure.message);
}

// Before its end is on record, for which there may be no room otherwise. That the processes are
// killed needs none.
Task<void> PodWorker::give_room() {
  co_await kill_sandbox();
  std::vector<std::pair<std::string, int>> attempts;
  for (const auto& container : subject_.facts.containers)
    attempts.emplace_back(container.name, container.attempt);
  for (const auto& [name, attempt] : attempts) {
    [[maybe_unused]] const auto gone =
        co_await subject_.node.runtime.discard_written(subject_.uid, name, attempt);
  }
  co_await preparation_.empty_volumes();
}

Task<void> PodWorker::kill_sandbox() {
  [[maybe_unused]] const auto killed = co_await subject_.node.runtime.kill_sandbox(subject_.uid);
}

// Somebody waits for its removal: for its name, or for what it holds.
bool PodWorker::is_awaited() const {
  return !subject_.facts.settled || vanished() || api::is_deleting(*subject_.pod) ||
         preparation_.holds_gpus();
}

Task<void> PodWorker::tear_down() {
  runner_.stop_probes();
  co_await subject_.node.starts.give_way(subject_.changed, [this] { return is_awaited(); });
  while (!subject_.scope.stopping()) {
    const auto removed = co_await subject_.node.runtime.remove_sandbox(subject_.uid);
    if (removed) break;
    subject_.node.log.warning("{}: removing its sandbox: {}", subject_.key.text(),
                              removed.error().message);
    [[maybe_unused]] const auto slept = co_await rt::sleep_for(subject_.node.loop, kRetry);
  }
  if (subject_.scope.stopping()) co_return;
  subject_.facts.sandbox = false;
  co_await preparation_.clear();
  if (!subject_.scope.stopping()) tell(TearDownDone{});
}

Task<void> PodWorker::remove_from_api() {
  while (!vanished() && !subject_.scope.stopping()) {
    const auto removed = co_await subject_.node.cluster.remove(
        api::pods(), subject_.key, cluster::DeleteOptions{.uid = subject_.uid, .grace_seconds = 0});
    if (removed || removed.error().code == ErrorCode::NotFound ||
        removed.error().code == ErrorCode::Conflict) {
      break;
    }
    [[maybe_unused]] const auto slept = co_await rt::sleep_for(subject_.node.loop, kRetry);
  }
  if (!subject_.scope.stopping()) tell(RemovalDone{});
}

}  // namespace muster::node
