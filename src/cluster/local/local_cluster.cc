#include "cluster/local/local_cluster.h"

#include <utility>

namespace muster::cluster {
namespace {

server::Selection selection(Selection where) {
  return {.ns = std::move(where.ns),
          .labels = std::move(where.labels),
          .fields = std::move(where.fields)};
}

EventType event_type(server::EventType type) {
  switch (type) {
    case server::EventType::Added:
      return EventType::Added;
    case server::EventType::Modified:
      return EventType::Modified;
    case server::EventType::Deleted:
      return EventType::Deleted;
    case server::EventType::Bookmark:
      return EventType::Bookmark;
  }
  return EventType::Bookmark;
}

server::Propagation propagation(Propagation value) {
  switch (value) {
    case Propagation::Background:
      return server::Propagation::Background;
    case Propagation::Foreground:
      return server::Propagation::Foreground;
    case Propagation::Orphan:
      return server::Propagation::Orphan;
  }
  return server::Propagation::Background;
}

class LocalWatch final : public Watch {
 public:
  explicit LocalWatch(std::unique_ptr<server::Watch> watch) : watch_(std::move(watch)) {}
  Task<Result<WatchEvent>> next() override {
    auto event = CO_TRY(co_await watch_->next());
    co_return WatchEvent{.type = event_type(event.type), .object = std::move(event.object)};
  }

 private:
  std::unique_ptr<server::Watch> watch_;
};

class LocalLog final : public LogStream {
 public:
  explicit LocalLog(std::unique_ptr<server::LogStream> stream) : stream_(std::move(stream)) {}
  Task<Result<std::optional<std::string>>> next() override { return stream_->next(); }

 private:
  std::unique_ptr<server::LogStream> stream_;
};

}  // namespace

Result<const server::Kind*> LocalCluster::kind_of(const Resource& resource) const {
  const server::Kind* kind = core_.kinds().find(resource);
  if (kind == nullptr) {
    return fail(ErrorCode::NotFound, "the server could not find the requested resource");
  }
  return kind;
}

Task<Result<ListPage>> LocalCluster::list(const Resource& resource, ListOptions options) {
  const server::Kind* kind = CO_TRY(kind_of(resource));
  server::ListOptions wanted{.where = selection(std::move(options.where)),
                             .limit = options.limit,
                             .continue_token = std::move(options.continue_token)};
  auto page = CO_TRY(co_await core_.list(*kind, std::move(wanted)));
  co_return ListPage{.items = std::move(page.items),
                     .resource_version = std::move(page.resource_version),
                     .continue_token = std::move(page.continue_token)};
}

Task<Result<std::unique_ptr<Watch>>> LocalCluster::watch(const Resource& resource,
                                                         WatchOptions options) {
  const server::Kind* kind = CO_TRY(kind_of(resource));
  auto watch = CO_TRY(core_.watch(*kind, {.where = selection(std::move(options.where)),
                                          .resource_version = std::move(options.resource_version),
                                          .bookmarks = true}));
  co_return std::make_unique<LocalWatch>(std::move(watch));
}

Task<Result<ObjectPtr>> LocalCluster::get(const Resource& resource, ObjectKey key) {
  const server::Kind* kind = CO_TRY(kind_of(resource));
  co_return core_.get(*kind, key);
}

Task<Result<ObjectPtr>> LocalCluster::create(const Resource& resource, json::Value object) {
  const server::Kind* kind = CO_TRY(kind_of(resource));
  co_return co_await core_.create(*kind, std::move(object));
}

Task<Result<ObjectPtr>> LocalCluster::update(const Resource& resource, json::Value object) {
  const server::Kind* kind = CO_TRY(kind_of(resource));
  co_return co_await core_.update(*kind, std::move(object));
}

Task<Result<ObjectPtr>> LocalCluster::update_status(const Resource& resource, json::Value object) {
  const server::Kind* kind = CO_TRY(kind_of(resource));
  co_return co_await core_.update_status(*kind, std::move(object));
}

Task<Result<ObjectPtr>> LocalCluster::remove(const Resource& resource, ObjectKey key,
                                             DeleteOptions options) {
  const server::Kind* kind = CO_TRY(kind_of(resource));
  server::DeleteOptions wanted{.uid = std::move(options.uid),
                               .resource_version = std::move(options.resource_version),
                               .grace_seconds = options.grace_seconds,
                               .propagation = propagation(options.propagation)};
  co_return co_await core_.remove(*kind, std::move(key), std::move(wanted));
}

Task<Result<void>> LocalCluster::bind(ObjectKey pod, std::string pod_uid, std::string node) {
  return core_.bind(std::move(pod), std::move(pod_uid), std::move(node));
}

Task<Result<Token>> LocalCluster::create_token(ObjectKey service_account, TokenRequest request) {
  server::TokenRequest wanted{.audiences = std::move(request.audiences),
                              .expiration_seconds = request.expiration_seconds,
                              .pod_name = std::move(request.pod_name),
                              .pod_uid = std::move(request.pod_uid)};
  auto token = CO_TRY(co_await core_.create_token(std::move(service_account), std::move(wanted)));
  co_return Token{.value = std::move(token.value), .expires = std::move(token.expires)};
}

Task<Result<std::unique_ptr<LogStream>>> LocalCluster::log(ObjectKey pod, LogOptions options) {
  server::LogOptions wanted{.container = std::move(options.container),
                            .follow = options.follow,
                            .previous = options.previous,
                            .timestamps = options.timestamps,
                            .tail_lines = options.tail_lines};
  auto stream = CO_TRY(co_await core_.log(std::move(pod), std::move(wanted)));
  co_return std::make_unique<LocalLog>(std::move(stream));
}

}  // namespace muster::cluster
