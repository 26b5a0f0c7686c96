#include "node/agent/events.h"

#include <fmt/format.h>

#include "api/object.h"
#include "base/limits.h"

namespace muster::node {

namespace {

constexpr std::size_t kMaxWaiting = 256;
// Remembered to count repetitions: 1,024 events of about 1 KiB are 1 MiB.
constexpr std::size_t kMaxRemembered = 1024;
constexpr Duration kRetry = std::chrono::seconds(1);

json::Value involved_object(const json::Value& object, const std::string& container) {
  json::Value out = json::Object{{"apiVersion", api::api_version_of(object)},
                                 {"kind", api::kind_of(object)},
                                 {"name", api::name_of(object)},
                                 {"namespace", api::namespace_of(object)},
                                 {"resourceVersion", api::resource_version_of(object)},
                                 {"uid", api::uid_of(object)}};
  // Items of a list may come without their type.
  if (api::kind_of(object).empty()) {
    out["apiVersion"] = "v1";
    out["kind"] = "Pod";
  }
  if (!container.empty()) out["fieldPath"] = fmt::format("spec.containers{{{}}}", container);
  return out;
}

}  // namespace

void EventRecorder::record(const json::Value& object, Words words) {
  if (words.message.size() > limits::kMaxEventMessageBytes) {
    words.message.resize(limits::kMaxEventMessageBytes - 3);
    words.message += "...";
  }
  const auto key = fmt::format("{}\n{}\n{}\n{}", api::uid_of(object), words.container, words.reason,
                               words.message);
  const auto now = format_time(loop_.now());
  auto& entry = entries_[key];
  if (entry.count == 0) {
    order_.push_back(key);
    auto ns = api::namespace_of(object);
    if (ns.empty()) ns = "default";
    entry.event = json::Object{
        {"apiVersion", "v1"},
        {"kind", "Event"},
        {"metadata",
         json::Object{{"namespace", ns},
                      {"name", fmt::format("{}.{:016x}", api::name_of(object), rng_.next())}}},
        {"involvedObject", involved_object(object, words.container)},
        {"reason", words.reason},
        {"message", words.message},
        {"type", words.severity == EventSeverity::Warning ? "Warning" : "Normal"},
        {"source", json::Object{{"component", "muster-node"}, {"host", host_}}},
        {"reportingComponent", "muster-node"},
        {"reportingInstance", host_},
        {"firstTimestamp", now}};
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

Task<void> EventRecorder::write_all() {
  while (true) {
    while (waiting_.empty()) {
      queued_.reset();
      const auto waited = co_await queued_.wait();
      if (!waited) co_return;
    }
    auto key = std::move(waiting_.front());
    waiting_.pop_front();
    const auto written = co_await write_one(std::move(key));
    if (written) continue;
    if (written.error().code == ErrorCode::Cancelled) co_return;
    log_.debug("writing an event: {}", written.error().message);
    const auto slept = co_await rt::sleep_for(loop_, kRetry);
    if (!slept) co_return;
  }
}

}  // namespace muster::node
