#include "node/agent/mirror.h"

#include <algorithm>

#include "api/object.h"
#include "base/strings.h"

namespace muster::node {

namespace {

constexpr Duration kFirstRetry = std::chrono::milliseconds(200);
constexpr Duration kLongestRetry = std::chrono::seconds(30);

// Versions of one server are numbers that grow; where they are not, the newcomer counts.
bool is_older(const json::Value& a, const json::Value& b) {
  const auto left = parse_int(api::resource_version_of(a));
  const auto right = parse_int(api::resource_version_of(b));
  return left && right && *left < *right;
}

}  // namespace

api::ObjectPtr Mirror::find(const api::ObjectKey& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : found->second;
}

void Mirror::learn(const api::ObjectPtr& object) {
  // Only what we follow, and only forward: the watch may be ahead of the answer.
  const auto known = find(api::key_of(*object));
  if (known && api::uid_of(*known) == api::uid_of(*object) && is_older(*known, *object))
    put(object);
}

void Mirror::put(const api::ObjectPtr& object) {
  auto& slot = objects_[api::key_of(*object)];
  // Late news: learn() was faster.
  if (slot && api::uid_of(*slot) == api::uid_of(*object) && is_older(*object, *slot)) return;
  const auto before = slot;
  slot = object;
  on_change_(before, object);
}

void Mirror::drop(const api::ObjectKey& key) {
  const auto found = objects_.find(key);
  if (found == objects_.end()) return;
  const auto before = found->second;
  objects_.erase(found);
  on_change_(before, nullptr);
}

void Mirror::apply(const cluster::WatchEvent& event) {
  version_ = api::resource_version_of(*event.object);
  if (event.type == cluster::EventType::Bookmark) return;
  if (event.type == cluster::EventType::Deleted) {
    drop(api::key_of(*event.object));
  } else {
    put(event.object);
  }
}

Task<Result<void>> Mirror::list_all() {
  Objects fresh;
  std::string token;
  do {
    auto page = CO_TRY(co_await cluster_.list(
        target_.resource, cluster::ListOptions{.where = target_.where, .continue_token = token}));
    for (auto& item : page.items) fresh[api::key_of(*item)] = std::move(item);
    token = page.continue_token;
    version_ = page.resource_version;
  } while (!token.empty());

  std::vector<api::ObjectKey> gone;
  for (const auto& [key, object] : objects_) {
    if (!fresh.contains(key)) gone.push_back(key);
  }
  for (const auto& key : gone) drop(key);
  for (const auto& [key, object] : fresh) {
    const auto known = find(key);
    const bool same = known && api::uid_of(*known) == api::uid_of(*object) &&
                      api::resource_version_of(*known) == api::resource_version_of(*object);
    if (!same) put(object);
  }
  must_list_ = false;
  synced_.set();
  co_return Result<void>{};
}

Task<Result<void>> Mirror::watch_changes() {
  auto watch = CO_TRY(co_await cluster_.watch(
      target_.resource,
      cluster::WatchOptions{.where = target_.where, .resource_version = version_}));
  while (true) {
    const auto event = CO_TRY(co_await watch->next());
    apply(event);
  }
}

Task<void> Mirror::follow() {
  Duration retry = kFirstRetry;
  while (!scope_.stopping()) {
    Result<void> result;
    const auto before = version_;
    if (must_list_) {
      result = co_await list_all();
    } else {
      result = co_await watch_changes();
    }
    if (result || version_ != before) retry = kFirstRetry;
    if (result) continue;
    if (result.error().code == ErrorCode::Cancelled) co_return;
    if (result.error().code == ErrorCode::Gone) {
      must_list_ = true;
      if (version_ != before) continue;  // else a server that only ever says so would spin us
    }
    log_.debug("following {}: {}", target_.resource.plural, result.error().message);
    const Duration wait = result.error().retry_after.value_or(
        std::chrono::duration_cast<std::chrono::milliseconds>(retry));
    const auto slept = co_await rt::sleep_for(loop_, wait);
    if (!slept) co_return;
    retry = std::min(retry * 2, kLongestRetry);
  }
}

}  // namespace muster::node
