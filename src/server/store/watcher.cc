#include "server/store/watcher.h"

#include <fmt/format.h>

#include "api/object.h"

namespace muster::server {

Watcher::Watcher(WatchHub& hub, Table& table, Selector selector, WatchOptions options, Version from,
                 std::vector<ObjectPtr> initial)
    : hub_(hub),
      table_(table),
      selector_(std::move(selector)),
      bookmarks_(options.bookmarks),
      mark_end_(options.initial_events),
      at_(from),
      initial_(std::move(initial)),
      next_bookmark_(hub.loop.monotonic() + kBookmarkInterval) {
  hub_.watchers.insert(this);
}

Task<Result<WatchEvent>> Watcher::next() {
  while (true) {
    if (hub_.closed) co_return fail(ErrorCode::Unavailable, "the server is closing");
    if (at_ < table_.floor()) {
      initial_.clear();
      co_return fail(ErrorCode::Gone,
                     fmt::format("too old resource version: {} ({})", at_, table_.floor()));
    }
    if (auto event = take_initial()) co_return std::move(*event);
    if (auto event = take_change()) co_return std::move(*event);
    if (!CO_TRY(co_await wait_for_news())) continue;
    // Changes of other kinds do not wake us, but the bookmark stands for them too.
    if (auto event = take_change()) co_return std::move(*event);
    co_return bookmark(false);
  }
}

std::optional<WatchEvent> Watcher::take_initial() {
  if (taken_ < initial_.size()) {
    return WatchEvent{.type = EventType::Added, .object = std::move(initial_[taken_++])};
  }
  initial_.clear();
  taken_ = 0;
  if (!std::exchange(mark_end_, false)) return std::nullopt;
  return bookmark(true);
}

std::optional<WatchEvent> Watcher::take_change() {
  while (const Table::Published* change = table_.after(at_)) {
    at_ = change->version;
    if (auto event = translate(*change)) return event;
  }
  // Nothing between here and the newest version concerns us; staying there keeps a quiet watch
  // young.
  at_ = std::max(at_, hub_.committed);
  return std::nullopt;
}

// What the change is to this selection: objects come into it and leave it.
std::optional<WatchEvent> Watcher::translate(const Table::Published& change) const {
  const bool unknown_before = change.type == EventType::Modified && change.before == nullptr;
  const bool deleted = change.type == EventType::Deleted;
  const bool now = !deleted && selector_.matches(*change.object);
  const bool before = deleted ? selector_.matches(*change.object)
                              : change.before != nullptr && selector_.matches(*change.before);
  if (deleted) {
    if (!before) return std::nullopt;
    return WatchEvent{.type = EventType::Deleted, .object = change.object};
  }
  // Not known whether it was selected: both answers are safe for someone who keeps a cache.
  if (unknown_before) {
    return WatchEvent{.type = now ? EventType::Modified : EventType::Deleted,
                      .object = change.object};
  }
  if (now) {
    return WatchEvent{.type = before ? EventType::Modified : EventType::Added,
                      .object = change.object};
  }
  if (!before) return std::nullopt;
  return WatchEvent{.type = EventType::Deleted, .object = table_.departed(change.version)};
}

WatchEvent Watcher::bookmark(bool end_of_initial) const {
  const api::Resource& resource = table_.kind().resource;
  json::Value object;
  object["kind"] = resource.kind;
  object["apiVersion"] = resource.api_version();
  object["metadata"]["resourceVersion"] = std::to_string(at_);
  if (end_of_initial) object["metadata"]["annotations"]["k8s.io/initial-events-end"] = "true";
  return {.type = EventType::Bookmark,
          .object = std::make_shared<const json::Value>(std::move(object))};
}

// True when it is time for a bookmark instead.
Task<Result<bool>> Watcher::wait_for_news() {
  if (!bookmarks_) {
    CO_TRY(co_await table_.news().wait());
    co_return false;
  }
  const Duration left = next_bookmark_ - hub_.loop.monotonic();
  if (left > Duration::zero()) {
    const auto news = co_await rt::with_timeout(hub_.loop, left, table_.news().wait());
    if (news) co_return false;
    if (news.error().code != ErrorCode::Timeout) co_return fail(news.error());
  }
  next_bookmark_ = hub_.loop.monotonic() + kBookmarkInterval;
  co_return true;
}

}  // namespace muster::server
