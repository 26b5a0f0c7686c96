#include "node/pod/status_writer.h"

#include <algorithm>
#include <utility>

#include "api/object.h"
#include "node/pod/container/references.h"
#include "node/pod/status.h"

namespace muster::node {

namespace {

constexpr Duration kFirstRetry = std::chrono::milliseconds(200);
constexpr Duration kLongestRetry = std::chrono::seconds(10);
// What a pod is on its way to takes milliseconds; of one that is held up people want to know where.
constexpr Duration kLongestWay = std::chrono::seconds(1);

// In every pod that has a token.
constexpr std::string_view kClusterCertificate = "kube-root-ca.crt";

// Nothing of it ran yet, and nothing holds it up: what could be said now is over in a moment.
bool is_on_its_way(const PodFacts& facts) {
  const bool whole = facts.stopping || facts.forgotten || facts.failure || facts.unknown;
  return !whole && std::ranges::all_of(facts.containers, [](const ContainerFacts& container) {
    return std::holds_alternative<NotStarted>(container.state) && !container.hold;
  });
}

// Backing off ends by itself: of such a pod the status follows from the time, too.
bool follows_from_time(const PodFacts& facts) {
  return std::ranges::any_of(facts.containers, [&](const ContainerFacts& container) {
    return container.ending() != nullptr && wants_restart(facts.restart_policy, container);
  });
}

// What it refers to may be made from its address (a list of peers), by somebody who reads the API.
bool refers_to_others(const json::Value& pod) {
  return std::ranges::any_of(references_of(pod), [](const Reference& reference) {
    return reference.name != kClusterCertificate;
  });
}

}  // namespace

PodStatusWriter::PodStatusWriter(PodSubject& subject)
    : subject_(subject),
      tells_its_address_(refers_to_others(*subject.pod)),
      dirty_(subject.node.loop) {}

void PodStatusWriter::look(const Status& wanted) {
  if (!settled(wanted)) dirty_.set();
}

// It is asked for with every event, and mostly the event changed nothing of it.
PodStatusWriter::Status PodStatusWriter::desired() {
  const auto& facts = subject_.facts;
  const bool known = worked_out_ && worked_out_->pod == subject_.pod &&
                     worked_out_->facts == facts && !follows_from_time(facts);
  if (!known) {
    auto status = pod_status({.pod = *subject_.pod,
                              .facts = facts,
                              .options = subject_.node.options,
                              .now = subject_.now()});
    worked_out_ = {.pod = subject_.pod,
                   .facts = facts,
                   .status = std::make_shared<const json::Value>(std::move(status))};
  }
  return worked_out_->status;
}

// A server that writes our words in its own way must not make us repeat them: what we wrote last
// counts as well.
bool PodStatusWriter::settled(const Status& wanted) const {
  return subject_.facts.forgotten || wanted == last_written_ ||
         *wanted == (*subject_.pod)["status"] || (last_written_ && *wanted == *last_written_);
}

Task<PodStatusWriter::Outcome> PodStatusWriter::write() {
  auto object = *subject_.pod;
  auto status = desired();
  object["status"] = *status;
  auto answer = co_await subject_.node.cluster.update_status(api::pods(), std::move(object));
  if (answer) {
    last_written_ = std::move(status);
    subject_.node.host.wrote(*answer);
    co_return Outcome::Written;
  }
  const auto code = answer.error().code;
  if (code == ErrorCode::Cancelled) co_return Outcome::Cancelled;
  if (code == ErrorCode::NotFound) co_return Outcome::Gone;
  if (code == ErrorCode::Conflict) co_return co_await read_again();
  subject_.node.log.warning("{}: writing its status: {}", subject_.key.text(),
                            answer.error().message);
  co_return Outcome::Retry;
}

// Somebody else was faster: read again, compute again.
Task<PodStatusWriter::Outcome> PodStatusWriter::read_again() {
  auto fresh = co_await subject_.node.cluster.get(api::pods(), subject_.key);
  if (!fresh) {
    const bool gone = fresh.error().code == ErrorCode::NotFound;
    co_return gone ? Outcome::Gone : Outcome::Retry;
  }
  if (api::uid_of(**fresh) != subject_.uid) co_return Outcome::Gone;
  const bool same = api::resource_version_of(**fresh) == api::resource_version_of(*subject_.pod);
  subject_.node.host.wrote(*fresh);
  if (same) co_return Outcome::Retry;
  co_return Outcome::Written;  // not yet, but there is something new to write from
}

bool PodStatusWriter::can_wait() const {
  const bool tells = tells_its_address_ && !subject_.facts.pod_ip.empty();
  return is_on_its_way(subject_.facts) && !tells;
}

// One write less, or two, of the four in the life of a short pod.
Task<void> PodStatusWriter::let_it_start() {
  auto& loop = subject_.node.loop;
  while (can_wait() && loop.monotonic() < on_its_way_until_) {
    const auto looked =
        co_await rt::with_timeout(loop, on_its_way_until_ - loop.monotonic(), dirty_.wait());
    if (!looked && looked.error().code == ErrorCode::Cancelled) co_return;
    dirty_.reset();
  }
}

Task<void> PodStatusWriter::run() {
  on_its_way_until_ = subject_.node.loop.monotonic() + kLongestWay;
  Duration retry = kFirstRetry;
  while (!subject_.scope.stopping()) {
    const auto waited = co_await dirty_.wait();
    if (!waited) co_return;
    dirty_.reset();
    co_await let_it_start();
    while (!settled(desired()) && !subject_.scope.stopping()) {
      const auto outcome = co_await write();
      if (outcome == Outcome::Cancelled) co_return;
      if (outcome == Outcome::Gone) {
        subject_.forget();
        break;
      }
      if (outcome == Outcome::Written) {
        retry = kFirstRetry;
        continue;
      }
      const auto slept = co_await rt::sleep_for(subject_.node.loop, retry);
      if (!slept) co_return;
      retry = std::min(retry * 2, kLongestRetry);
    }
    subject_.tell(Changed{});
  }
}

}  // namespace muster::node
