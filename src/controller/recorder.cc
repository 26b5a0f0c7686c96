#include "controller/recorder.h"

#include <fmt/format.h>

#include "api/event.h"

namespace muster::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// 20,000 events of ~400 bytes are 8 MB: more than a 1,000-rank job ever says.
constexpr std::size_t kMostWaiting = 20'000;
constexpr std::size_t kInFlight = 8;
constexpr Duration kLongestWait = seconds(5);
constexpr Duration kLastWords = seconds(2);

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
  queue_.push_back({.identity = &identity,
                    .ns = job.ns,
                    .name = job.name,
                    .uid = job.uid,
                    .text = text,
                    .at = loop_.now()});
  ready_.set();
}

json::Value Recorder::body_of(const Waiting& event, Rng& rng) {
  const api::Resource& resource = event.identity->resource;
  return api::make_event(
      {.about = {.api_version = resource.api_version(),
                 .kind = resource.kind,
                 .ns = event.ns,
                 .name = event.name,
                 .uid = event.uid},
       .severity = event.text.warning ? api::EventSeverity::Warning : api::EventSeverity::Normal,
       .reason = event.text.reason,
       .message = event.text.message,
       .component = event.identity->controller_name},
      event.at, rng);
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
    json::Value event = body_of(queue_.front(), rng_);
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
