#include "node/agent/events.h"

#include <utility>

#include <fmt/format.h>

#include "api/event.h"
#include "api/object.h"

namespace muster::node {

namespace {

constexpr std::size_t kMaxWaiting = 256;
// Remembered to count repetitions: 1,024 events of about 1 KiB are 1 MiB.
constexpr std::size_t kMaxRemembered = 1024;
constexpr Duration kRetry = std::chrono::seconds(1);

api::ObjectReference reference_to(const json::Value& object, const std::string& container) {
  api::ObjectReference about = api::ObjectReference::of(object);
  // Items of a list may come without their type.
  if (about.kind.empty()) {
    about.api_version = "v1";
    about.kind = "Pod";
  }
  if (!container.empty()) about.field_path = fmt::format("spec.containers{{{}}}", container);
  return about;
}

}  // namespace

void EventRecorder::record(const json::Value& object, Words words) {
  words.message = api::event_message(words.message);
  const auto key = fmt::format("{}\n{}\n{}\n{}", api::uid_of(object), words.container, words.reason,
                               words.message);
  const auto now = format_time(loop_.now());
  auto& entry = entries_[key];
  if (entry.count == 0) {
    order_.push_back(key);
    entry.event = api::make_event({.about = reference_to(object, words.container),
                                   .severity = words.severity,
                                   .reason = words.reason,
                                   .message = words.message,
                                   .component = "muster-node",
                                   .host = host_},
                                  loop_.now(), rng_);
  }
  ++entry.count;
  entry.event["lastTimestamp"] = now;
  entry.event["count"] = entry.count;
  if (entry.waiting) return;
  if (waiting_.size() >= kMaxWaiting) {
    ++dropped_;
    return;
  }
  entry.waiting = true;
  waiting_.push_back(key);
  queued_.set();
  forget_oldest();
}

void EventRecorder::forget_oldest() {
  while (order_.size() > kMaxRemembered) {
    const auto found = entries_.find(order_.front());
    if (found != entries_.end() && found->second.waiting) return;
    if (found != entries_.end()) entries_.erase(found);
    order_.pop_front();
  }
}

Task<Result<void>> EventRecorder::write_one(std::string key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) co_return Result<void>{};
  found->second.waiting = false;
  auto event = found->second.event;
  Result<api::ObjectPtr> answer;
  if (api::resource_version_of(event).empty()) {
    answer = co_await cluster_.create(api::events(), std::move(event));
  } else {
    answer = co_await cluster_.update(api::events(), std::move(event));
  }
  const auto again = entries_.find(key);  // the wait may have forgotten it
  if (!answer) {
    // Expired on the server: the next repetition begins anew.
    if (again != entries_.end() && answer.error().code == ErrorCode::NotFound) {
      again->second.event["metadata"].object().erase("resourceVersion");
      again->second.event["metadata"].object().erase("uid");
    }
    co_return fail(answer.error());
  }
  if (again != entries_.end()) {
    again->second.event["metadata"]["resourceVersion"] = api::resource_version_of(**answer);
    again->second.event["metadata"]["uid"] = api::uid_of(**answer);
  }
  co_return Result<void>{};
}

void EventRecorder::try_again(std::string key) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || std::exchange(found->second.waiting, true)) return;
  waiting_.push_front(std::move(key));
}

Task<void> EventRecorder::write_all() {
  while (true) {
    while (waiting_.empty()) {
      queued_.reset();
      const auto waited = co_await queued_.wait();
      if (!waited) co_return;
    }
    std::string key = std::move(waiting_.front());
    waiting_.pop_front();
    const auto written = co_await write_one(key);
    if (written) continue;
    if (written.error().code == ErrorCode::Cancelled) co_return;
    // A disk that is full now has room again when what fills it is evicted, which is worth telling.
    if (written.error().code == ErrorCode::InsufficientStorage) try_again(std::move(key));
    log_.debug("writing an event: {}", written.error().message);
    const auto slept = co_await rt::sleep_for(loop_, kRetry);
    if (!slept) co_return;
  }
}

}  // namespace muster::node
