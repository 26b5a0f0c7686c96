#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/object.h"
#include "api/selector.h"
#include "cluster/cluster.h"
#include "rt/loop.h"
#include "rt/wait.h"

namespace muster::node {

// A cluster in memory that keeps the contract of cluster::Cluster as far as a node sees it:
// versions, uid and version preconditions, graceful pod deletion, watches in order. Every answer
// takes a moment of virtual time, so that calls overlap.
class FakeCluster final : public cluster::Cluster {
 public:
  explicit FakeCluster(rt::Loop& loop) : loop_(loop) {}

  // --- what tests do directly

  api::ObjectPtr put(const api::Resource& resource, json::Value object) {
    const auto key = api::key_of(object);
    auto& slot = objects_[{resource.plural, key}];
    const auto type = slot ? cluster::EventType::Modified : cluster::EventType::Added;
    if (api::uid_of(object).empty()) {
      object["metadata"]["uid"] = slot ? api::uid_of(*slot) : fmt::format("uid-{}", ++last_uid_);
    }
    return store(resource, slot, std::move(object), type);
  }
  api::ObjectPtr at(const api::Resource& resource, const std::string& ns, const std::string& name) {
    const auto found = objects_.find({resource.plural, api::ObjectKey{ns, name}});
    return found == objects_.end() ? nullptr : found->second;
  }
  std::vector<api::ObjectPtr> all(const api::Resource& resource) const {
    std::vector<api::ObjectPtr> out;
    for (const auto& [key, object] : objects_) {
      if (key.first == resource.plural && object) out.push_back(object);
    }
    return out;
  }
  void erase(const api::Resource& resource, const api::ObjectKey& key) {
    const auto found = objects_.find({resource.plural, key});
    if (found == objects_.end()) return;
    auto last = *found->second;
    objects_.erase(found);
    last["metadata"]["resourceVersion"] = fmt::format("{}", ++version_);
    announce(resource, cluster::EventType::Deleted, std::make_shared<const json::Value>(last));
  }
  void request_deletion(const std::string& ns, const std::string& pod, std::int64_t grace) {
    auto object = *at(api::pods(), ns, pod);
    object["metadata"]["deletionTimestamp"] = format_time(loop_.now() + seconds_saturating(grace));
    object["metadata"]["deletionGracePeriodSeconds"] = grace;
    put(api::pods(), std::move(object));
  }
  // Called before each status write of a pod; an error is what the write answers.
  std::function<Result<void>(const json::Value& pod)> before_status_write;
  // What a review is answered with; it is not stored.
  std::function<Result<json::Value>(const api::Resource& resource, const json::Value& review)>
      reviewed;
  int status_writes = 0;
  int tokens = 0;
  std::int64_t token_seconds = 3600;

  // --- Cluster

  Task<Result<cluster::ListPage>> list(const api::Resource& resource,
                                       cluster::ListOptions options) override {
    CO_TRY(co_await moment());
    cluster::ListPage page{.resource_version = fmt::format("{}", version_)};
    for (const auto& object : all(resource)) {
      if (selects(options.where, *object)) page.items.push_back(object);
    }
    co_return page;
  }

  Task<Result<std::unique_ptr<cluster::Watch>>> watch(const api::Resource& resource,
                                                      cluster::WatchOptions options) override {
    CO_TRY(co_await moment());
    auto feed = std::make_shared<Feed>(loop_);
    feed->plural = resource.plural;
    feed->where = options.where;
    const auto since = std::stoll(options.resource_version);
    for (const auto& past : history_) {
      if (past.version > since) deliver(*feed, past);
    }
    feeds_.push_back(feed);
    co_return std::make_unique<FakeWatch>(feed);
  }

  Task<Result<api::ObjectPtr>> get(const api::Resource& resource, api::ObjectKey key) override {
    CO_TRY(co_await moment());
    auto found = at(resource, key.ns, key.name);
    if (!found) co_return fail(ErrorCode::NotFound, key.text() + " not found");
    co_return found;
  }

  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override {
    CO_TRY(co_await moment());
    if (reviewed && resource.kind.ends_with("Review")) {
      co_return std::make_shared<const json::Value>(CO_TRY(reviewed(resource, object)));
    }
    const auto key = api::key_of(object);
    if (at(resource, key.ns, key.name)) co_return fail(ErrorCode::AlreadyExists, key.text());
    co_return put(resource, std::move(object));
  }

  Task<Result<api::ObjectPtr>> update(const api::Resource& resource, json::Value object) override {
    return write(resource, std::move(object), false);
  }
  Task<Result<api::ObjectPtr>> update_status(const api::Resource& resource,
                                             json::Value object) override {
    return write(resource, std::move(object), true);
  }

  Task<Result<api::ObjectPtr>> remove(const api::Resource& resource, api::ObjectKey key,
                                      cluster::DeleteOptions options) override {
    CO_TRY(co_await moment());
    const auto found = at(resource, key.ns, key.name);
    if (!found) co_return fail(ErrorCode::NotFound, key.text());
    if (!options.uid.empty() && options.uid != api::uid_of(*found)) {
      co_return fail(ErrorCode::Conflict, "uid");
    }
    erase(resource, key);
    co_return found;
  }

  Task<Result<void>> bind(api::ObjectKey, std::string, std::string) override {
    co_return fail(ErrorCode::MethodNotAllowed, "bind");
  }
  Task<Result<cluster::Token>> create_token(api::ObjectKey account,
                                            cluster::TokenRequest request) override {
    CO_TRY(co_await moment());
    ++tokens;
    co_return cluster::Token{
        .value = fmt::format("token-{}-{}-{}", account.name, request.pod_name, tokens),
        .expires = format_time(loop_.now() + std::chrono::seconds(token_seconds))};
  }
  Task<Result<std::unique_ptr<cluster::LogStream>>> log(api::ObjectKey,
                                                        cluster::LogOptions) override {
    co_return fail(ErrorCode::MethodNotAllowed, "log");
  }

 private:
  struct Past {
    std::int64_t version = 0;
    std::string plural;
    cluster::WatchEvent event;
  };
  struct Feed {
    explicit Feed(rt::Loop& loop) : events(loop, 100'000) {}
    std::string plural;
    cluster::Selection where;
    rt::Channel<cluster::WatchEvent> events;
  };
  class FakeWatch final : public cluster::Watch {
   public:
    explicit FakeWatch(std::shared_ptr<Feed> feed) : feed_(std::move(feed)) {}
    Task<Result<cluster::WatchEvent>> next() override { return feed_->events.pop(); }

   private:
    std::shared_ptr<Feed> feed_;
  };

  Task<Result<void>> moment() { return rt::sleep_for(loop_, std::chrono::milliseconds(1)); }

  static bool selects(const cluster::Selection& where, const json::Value& object) {
    if (!where.ns.empty() && api::namespace_of(object) != where.ns) return false;
    const auto fields = api::FieldSelector::parse(where.fields);
    return fields && fields->matches(object);
  }
  static void deliver(Feed& feed, const Past& past) {
    if (feed.plural != past.plural || !selects(feed.where, *past.event.object)) return;
    CHECK(feed.events.push(past.event));
  }
  void announce(const api::Resource& resource, cluster::EventType type, api::ObjectPtr object) {
    history_.push_back({.version = version_, .plural = resource.plural, .event = {type, object}});
    std::erase_if(feeds_, [](const auto& feed) { return feed.expired(); });
    for (const auto& weak : feeds_) {
      if (const auto feed = weak.lock()) deliver(*feed, history_.back());
    }
  }
  api::ObjectPtr store(const api::Resource& resource, api::ObjectPtr& slot, json::Value object,
                       cluster::EventType type) {
    object["metadata"]["resourceVersion"] = fmt::format("{}", ++version_);
    slot = std::make_shared<const json::Value>(std::move(object));
    const auto stored = slot;
    announce(resource, type, stored);
    return stored;
  }
  Task<Result<api::ObjectPtr>> write(const api::Resource& resource, json::Value object,
                                     bool status) {
    CO_TRY(co_await moment());
    if (status && resource.plural == "pods") {
      ++status_writes;
      if (before_status_write) CO_TRY(before_status_write(object));
    }
    const auto key = api::key_of(object);
    const auto before = at(resource, key.ns, key.name);
    if (!before) co_return fail(ErrorCode::NotFound, key.text());
    const bool stale = api::resource_version_of(object) != api::resource_version_of(*before) ||
                       api::uid_of(object) != api::uid_of(*before);
    if (stale) co_return fail(ErrorCode::Conflict, "the object has been modified");
    json::Value merged = status ? *before : object;
    if (status) {
      merged["status"] = std::as_const(object)["status"];
    } else {
      merged["status"] = (*before)["status"];
    }
    co_return put(resource, std::move(merged));
  }

  rt::Loop& loop_;
  std::map<std::pair<std::string, api::ObjectKey>, api::ObjectPtr> objects_;
  std::vector<Past> history_;
  std::vector<std::weak_ptr<Feed>> feeds_;
  std::int64_t version_ = 100;
  int last_uid_ = 0;
};

}  // namespace muster::node
