#include "server/store/journal.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "base/traffic_limits.h"

namespace muster::server {
namespace {

std::string stored_key(const Table& table, const ObjectKey& key) {
  return fmt::format("{}/{}/{}", table.kind().resource.qualified(), key.ns, key.name);
}

EventType event_type(ChangeType type) {
  switch (type) {
    case ChangeType::Created:
      return EventType::Added;
    case ChangeType::Updated:
      return EventType::Modified;
    case ChangeType::Deleted:
      return EventType::Deleted;
  }
  return EventType::Modified;
}

Version version_of(const ObjectPtr& object) {
  if (object == nullptr) return 0;
  return static_cast<Version>(parse_int(api::resource_version_of(*object)).value_or(0));
}

// Objects stay for long.
ObjectPtr keep(json::Value object) {
  object.shrink();
  return std::make_shared<const json::Value>(std::move(object));
}

}  // namespace

Journal::Journal(rt::Loop& loop, const Kinds& kinds, Store& store, Logger log)
    : loop_(loop), store_(store), log_(log.named("journal")), hub_(loop), progress_(loop) {
  Contents contents = store.take_contents();
  for (const Kind& kind : kinds.all()) {
    tables_.push_back(std::make_unique<Table>(loop, kind, contents.log_floor));
  }
  load(std::move(contents));
  store_.on_commit([this](Version version) { publish(version); });
  store_.on_undo([this] { undo(); });
}

Journal::~Journal() {
  store_.on_commit(nullptr);
  store_.on_undo(nullptr);
}

void Journal::load(Contents contents) {
  head_ = hub_.committed = contents.version;
  for (Change& change : contents.objects) {
    ObjectKey key;
    Table* table = table_of_key(change.key, key);
    if (table == nullptr) {
      log_.warning("{} is of a kind that this program does not know; it is kept as it is",
                   change.key);
      continue;
    }
    table->load(std::move(key), std::move(change.object));
  }
  std::map<std::string, ObjectPtr> last;  // by stored key: what the next change replaced
  for (Change& change : contents.log) {
    ObjectKey key;
    Table* table = table_of_key(change.key, key);
    if (table == nullptr) continue;
    ObjectPtr& before = last[change.key];
    table->remember({.version = change.version,
                     .type = event_type(change.type),
                     .object = change.object,
                     .before = before});
    before = change.type == ChangeType::Deleted ? nullptr : change.object;
  }
  trim_history();
}

Table* Journal::table_of_key(std::string_view stored, ObjectKey& key) {
  const auto parts = split(stored, '/');
  if (parts.size() != 3) return nullptr;
  key = {.ns = std::string(parts[1]), .name = std::string(parts[2])};
  for (const auto& table : tables_) {
    if (table->kind().resource.qualified() == parts[0]) return table.get();
  }
  return nullptr;
}

Table& Journal::table(const api::Resource& resource) const {
  for (const auto& table : tables_) {
    if (table->kind().resource == resource) return *table;
  }
  check_failed(__FILE__, __LINE__, "a kind without a table");
}

Table& Journal::table(const Kind& kind) const {
  return table(kind.resource);
}

ObjectPtr Journal::put(Table& table, json::Value object) {
  const ObjectKey key = api::key_of(object);
  const ObjectPtr before = table.find_head(key);
  object["metadata"]["resourceVersion"] = std::to_string(head_ + 1);
  auto after = keep(std::move(object));
  table.put(key, after);
  stage(table, key, before == nullptr ? ChangeType::Created : ChangeType::Updated, before, after);
  if (listener_) listener_(table, before, after);
  return after;
}

ObjectPtr Journal::erase(Table& table, json::Value last) {
  const ObjectKey key = api::key_of(last);
  const ObjectPtr before = table.find_head(key);
  CHECK(before != nullptr);
  last["metadata"]["resourceVersion"] = std::to_string(head_ + 1);
  auto final = keep(std::move(last));
  table.erase(key);
  stage(table, key, ChangeType::Deleted, before, final);
  if (listener_) listener_(table, before, nullptr);
  return final;
}

void Journal::stage(Table& table, ObjectKey key, ChangeType type, ObjectPtr before,
                    ObjectPtr object) {
  ++head_;
  const Version previous = version_of(before);
  staged_.push_back({.table = &table,
                     .key = key,
                     .change = {.version = head_,
                                .type = event_type(type),
                                .object = object,
                                .before = std::move(before)}});
  store_.append({.version = head_,
                 .key = stored_key(table, key),
                 .type = type,
                 .object = std::move(object),
                 .previous = previous,
                 .time = loop_.now(),
                 .confidential = table.kind().is(api::secrets())});
}

void Journal::publish(Version up_to) {
  std::vector<Table*> changed;
  hub_.committed = up_to;
  while (!staged_.empty() && staged_.front().change.version <= up_to) {
    Staged next = std::move(staged_.front());
    staged_.pop_front();
    next.table->publish(next.key, std::move(next.change));
    if (std::ranges::find(changed, next.table) == changed.end()) changed.push_back(next.table);
  }
  trim_history();
  for (Watcher* watcher : hub_.watchers) watcher->history_moved();
  for (Table* table : changed) table->news().pulse();
  progress_.pulse();
}

// Newest first, so that each finds what it left. The versions were shown to nobody: they are given
// again.
void Journal::undo() {
  while (!staged_.empty()) {
    Staged last = std::move(staged_.back());
    staged_.pop_back();
    const bool created = last.change.type == EventType::Added;
    const bool deleted = last.change.type == EventType::Deleted;
    const ObjectPtr now = deleted ? nullptr : last.change.object;
    if (created)
      last.table->erase(last.key);
    else
      last.table->put(last.key, last.change.before);
    if (listener_) listener_(*last.table, now, created ? nullptr : last.change.before);
  }
  head_ = store_.committed();
}

// The kind that has most gives first, so that a flood of one does not cost the others their past.
void Journal::trim_history() {
  std::size_t bytes = 0;
  for (const auto& table : tables_) bytes += table->history_bytes();
  while (bytes > limits::kMaxHistoryBytes) {
    Table& largest = **std::ranges::max_element(
        tables_, {}, [](const auto& table) { return table->history_bytes(); });
    const std::size_t before = largest.history_bytes();
    if (!largest.forget_oldest()) return;
    bytes -= before - largest.history_bytes();
  }
}

void Journal::end_watches() {
  hub_.closed = true;
  for (const auto& table : tables_) table->news().pulse();
  progress_.pulse();
}

}  // namespace muster::server
