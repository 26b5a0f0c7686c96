#include "server/keepers/event_expiry.h"

#include "api/object.h"
#include "server/core.h"

namespace muster::server {
namespace {

Time last_happened(const json::Value& event) {
  Time last = api::creation_time_of(event).value_or(Time());
  for (const char* path : {"lastTimestamp", "eventTime", "series.lastObservedTime"}) {
    if (const auto time = api::time_at(event.at_path(path))) last = std::max(last, *time);
  }
  return last;
}

}  // namespace

EventExpiry::EventExpiry(Core& core) : core_(core), present_(core.loop_), scope_(core.loop_) {
  note(core_.journal_.table(api::events()));
}

void EventExpiry::start() {
  scope_.spawn(run());
}

void EventExpiry::note(const Table& table) {
  if (table.kind().is(api::events()) && !table.head().empty()) present_.set();
}

Task<void> EventExpiry::run() {
  while (true) {
    if (!co_await present_.wait()) co_return;
    if (!co_await rt::sleep_for(core_.loop_, kInterval)) co_return;
    present_.reset();
    sweep();
    note(core_.journal_.table(api::events()));
  }
}

void EventExpiry::sweep() {
  Table& table = core_.journal_.table(api::events());
  std::vector<ObjectPtr> old;
  for (const auto& [key, event] : table.head()) {
    if (core_.loop_.now() - last_happened(*event) > kLifetime) old.push_back(event);
  }
  for (const ObjectPtr& event : old) core_.store_removal(table, *event, Mode::Store);
}

}  // namespace muster::server
