#include "server/keepers/event_expiry.h"

#include <algorithm>
#include <vector>

#include "api/object.h"
#include "base/traffic_limits.h"
#include "server/core.h"

namespace muster::server {
namespace {

// Too many are removed in lots, or every further one would cost a look at all of them.
constexpr std::size_t kLot = limits::kMaxEvents / 10;

Time last_happened(const json::Value& event) {
  Time last = api::creation_time_of(event).value_or(Time());
  for (const char* path : {"lastTimestamp", "eventTime", "series.lastObservedTime"}) {
    if (const auto time = api::time_at(event.at_path(path))) last = std::max(last, *time);
  }
  return last;
}

}  // namespace

EventExpiry::EventExpiry(Core& core)
    : core_(core), present_(core.loop_), crowded_(core.loop_), scope_(core.loop_) {
  note(core_.journal_.table(api::events()));
}

void EventExpiry::start() {
  scope_.spawn(run());
}

void EventExpiry::note(const Table& table) {
  if (!table.kind().is(api::events()) || table.head().empty()) return;
  present_.set();
  if (table.head().size() >= limits::kMaxEvents + kLot) crowded_.set();
}

Task<void> EventExpiry::run() {
  while (true) {
    if (!co_await present_.wait()) co_return;
    const auto crowded = co_await rt::with_timeout(core_.loop_, kInterval, crowded_.wait());
    if (!crowded && crowded.error().code == ErrorCode::Cancelled) co_return;
    present_.reset();
    crowded_.reset();
    sweep();
    note(core_.journal_.table(api::events()));
  }
}

void EventExpiry::sweep() {
  Table& table = core_.journal_.table(api::events());
  std::vector<std::pair<Time, ObjectPtr>> events;
  for (const auto& [key, event] : table.head()) events.emplace_back(last_happened(*event), event);
  std::ranges::sort(events, {}, &std::pair<Time, ObjectPtr>::first);
  const Time oldest = core_.loop_.now() - kLifetime;
  std::size_t left = events.size();
  for (const auto& [when, event] : events) {
    if (when >= oldest && left <= limits::kMaxEvents) return;
    core_.store_removal(table, *event, Mode::Store);
    --left;
  }
}

}  // namespace muster::server
