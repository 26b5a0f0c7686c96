#include "server/store/table.h"

#include <algorithm>
#include <ranges>

#include "api/object.h"

namespace muster::server {

void Table::load(ObjectKey key, ObjectPtr object) {
  seen_.emplace(key, object);
  head_.emplace(std::move(key), std::move(object));
}

void Table::remember(Published change) {
  ring_.push_back(std::move(change));
  if (ring_.size() <= kRingSize) return;
  floor_ = ring_.front().version;
  ring_.pop_front();
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
