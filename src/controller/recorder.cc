#include "controller/recorder.h"

#include <fmt/format.h>

#include "api/event.h"

namespace muster::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// 20,000 events of ~600 bytes are 12 MB: more than a 1,000-rank job ever says.
constexpr std::size_t kMostWaiting = 20'000;
constexpr std::size_t kInFlight = 8;
constexpr Duration kLongestWait = seconds(5);
constexpr Duration kLastWords = seconds(2);

json::Value event_about(const plan::Identity& identity, const plan::JobRef& job,
                        const plan::EventText& text, Time now, Rng& rng) {
  return api::make_event(
      {.about = {.api_version = job.resource.api_version(),
                 .kind = job.resource.kind,
                 .ns = job.ns,
                 .name = job.name,
                 .uid = job.uid},
       .severity = text.warning ? api::EventSeverity::Warning : api::EventSeverity::Normal,
       .reason = text.reason,
       .message = text.message,
       .component = identity.controller_name},
      now, rng);
}

}  // namespace

Recorder::Recorder(rt::Loop& loop, cluster::Cluster& cluster, Rng& rng, Logger log, Options options)
    : loop_(loop),
      cluster_(cluster),
      rng_(rng),
      log_(std::move(log)),
      options_(std::move(options)),
      ready_(loop) {}

void Recorder::record(const plan::Identity& identity, const plan::JobRef& job,
                      const plan::EventText& text, const std::string& subject, About about) {
  if (about == About::Lasting) {
    std::string& last = said_[job.uid][fmt::format("{}/{}", text.reason, subject)];
    if (last == text.message) return;
    last = text.message;
  }
  if (queue_.size() >= kMostWaiting) {
    ++dropped_;
    return;
  }
  queue_.push_back(event_about(identity, job, text, loop_.now(), rng_));
  ready_.set();
}

Task<void> Recorder::run() {
  rt::TaskScope scope(loop_);
  while (co_await ready_.wait()) {
    co_await wait_for_quiet();
    while (!queue_.empty() && scope.running() < kInFlight) scope.spawn(send_one());
    co_await scope.join();
    if (queue_.empty()) ready_.reset();
  }
  // Stopping: what is still queued goes out now, as far as it gets in a moment.
  const rt::Timer enough(loop_, kLastWords, [&scope] { scope.request_stop(); });
  while (!queue_.empty() && scope.running() < kInFlight) scope.spawn(send_one());
  co_await scope.join();
}

// One sender empties the queue together with its siblings.
Task<void> Recorder::send_one() {
  while (!queue_.empty()) {
    if (!options_.may_write()) {
      queue_.clear();
      co_return;
    }
    json::Value event = std::move(queue_.front());
    queue_.pop_front();
    const auto sent = co_await cluster_.create(api::events(), std::move(event));
    if (!sent) {
      ++dropped_;
      log_.debug("event not written: {}", sent.error().message);
      if (sent.error().code == ErrorCode::Cancelled) co_return;
    }
  }
}

Task<void> Recorder::wait_for_quiet() {
  const Monotonic latest = loop_.monotonic() + kLongestWait;
  while (options_.busy() && loop_.monotonic() < latest) {
    if (!co_await rt::sleep_for(loop_, milliseconds(50))) co_return;
  }
}

}  // namespace muster::controller
