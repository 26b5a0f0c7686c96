#include <algorithm>

#include "api/object.h"
#include "json/write.h"
#include "node/pod/pod_status.h"
#include "node/pod/pod_worker.h"

namespace muster::node {

namespace {

constexpr Duration kFirstRetry = std::chrono::milliseconds(200);
constexpr Duration kLongestRetry = std::chrono::seconds(10);

}  // namespace

json::Value PodWorker::desired_status() const {
  return pod_status({.pod = *pod_, .record = record_, .options = context_.options, .now = now()});
}

// The API has what we know. A server that writes our words in its own way must not make us repeat
// them: what we wrote last counts as well.
bool PodWorker::status_settled() const {
  if (vanished_) return true;
  const auto desired = desired_status();
  return desired == (*pod_)["status"] || json::write_canonical(desired) == last_written_;
}

Task<PodWorker::WriteOutcome> PodWorker::write_status() {
  auto object = *pod_;
  object["status"] = desired_status();
  auto text = json::write_canonical(std::as_const(object)["status"]);
  auto answer = co_await context_.cluster.update_status(api::pods(), std::move(object));
  if (answer) {
    last_written_ = std::move(text);
    context_.surroundings.wrote(*answer);
    co_return WriteOutcome::Written;
  }
  const auto code = answer.error().code;
  if (code == ErrorCode::Cancelled) co_return WriteOutcome::Cancelled;
  if (code == ErrorCode::NotFound) co_return WriteOutcome::Gone;
  if (code != ErrorCode::Conflict) {
    context_.log.warning("{}: writing its status: {}", key_.text(), answer.error().message);
    co_return WriteOutcome::Retry;
  }
  // Somebody else was faster: read again, compute again.
  auto fresh = co_await context_.cluster.get(api::pods(), key_);
  if (!fresh) {
    const bool gone = fresh.error().code == ErrorCode::NotFound;
    co_return gone ? WriteOutcome::Gone : WriteOutcome::Retry;
  }
  if (api::uid_of(**fresh) != uid_) co_return WriteOutcome::Gone;
  const bool same = api::resource_version_of(**fresh) == api::resource_version_of(*pod_);
  context_.surroundings.wrote(*fresh);
  if (same) co_return WriteOutcome::Retry;
  co_return WriteOutcome::Written;  // not yet, but there is something new to write from
}

Task<void> PodWorker::write_statuses() {
  Duration retry = kFirstRetry;
  while (!scope_.stopping()) {
    const auto waited = co_await dirty_.wait();
    if (!waited) co_return;
    dirty_.reset();
    while (!status_settled() && !scope_.stopping()) {
      const auto outcome = co_await write_status();
      if (outcome == WriteOutcome::Cancelled) co_return;
      if (outcome == WriteOutcome::Gone) {
        vanish();
        break;
      }
      if (outcome == WriteOutcome::Written) {
        retry = kFirstRetry;
        continue;
      }
      const auto slept = co_await rt::sleep_for(context_.loop, retry);
      if (!slept) co_return;
      retry = std::min(retry * 2, kLongestRetry);
    }
    written_.pulse();
  }
}

// Returns when the API has the status, or the pod is gone from it.
Task<void> PodWorker::flush() {
  while (!status_settled() && !scope_.stopping()) {
    dirty_.set();
    [[maybe_unused]] const auto waited = co_await written_.wait();
  }
}

}  // namespace muster::node
