#include "server/store/table.h"

#include <algorithm>
#include <ranges>

#include "api/object.h"
#include "base/check.h"
#include "server/store/footprint.h"

namespace muster::server {

void Table::load(ObjectKey key, ObjectPtr object) {
  seen_.emplace(key, object);
  head_.emplace(std::move(key), std::move(object));
}

void Table::remember(Published change) {
  if (change.before != nullptr) change.bytes += footprint(*change.before);
  if (change.type == EventType::Deleted) change.bytes += footprint(*change.object);
  history_bytes_ += change.bytes;
  ring_.push_back(std::move(change));
  if (ring_.size() > kRingSize) forget_oldest();
}

bool Table::forget_oldest() {
  if (ring_.size() <= 1) return false;
  floor_ = ring_.front().version;
  history_bytes_ -= ring_.front().bytes;
  ring_.pop_front();
  return true;
}

ObjectPtr Table::departed(Version version) {
  const auto found = std::ranges::lower_bound(ring_, version, {}, &Published::version);
  CHECK(found != ring_.end() && found->version == version && found->before != nullptr);
  if (found->departed == nullptr) {
    json::Value last = *found->before;
    last["metadata"]["resourceVersion"] = std::to_string(version);
    const std::size_t bytes = footprint(last);
    found->bytes += bytes;
    history_bytes_ += bytes;
    found->departed = std::make_shared<const json::Value>(std::move(last));
  }
  return found->departed;
}

void Table::publish(const ObjectKey& key, Published change) {
  if (change.type == EventType::Deleted) {
    seen_.erase(key);
  } else {
    seen_[key] = change.object;
  }
  remember(std::move(change));
}

const Table::Published* Table::after(Version version) const {
  const auto found = std::ranges::upper_bound(ring_, version, {}, &Published::version);
  return found == ring_.end() ? nullptr : &*found;
}

std::optional<Table::Objects> Table::snapshot(Version version) const {
  if (version < floor_) return std::nullopt;
  Objects objects = seen_;
  for (const Published& change : std::views::reverse(ring_)) {
    if (change.version <= version) break;
    const ObjectKey key = api::key_of(*change.object);
    if (change.type == EventType::Added) {
      objects.erase(key);
    } else if (change.before == nullptr) {
      return std::nullopt;
    } else {
      objects[key] = change.before;
    }
  }
  return objects;
}

}  // namespace muster::server
