#include "cluster/local/local_cluster.h"

#include <utility>

namespace muster::cluster {

Result<const server::Kind*> LocalCluster::kind_of(const Resource& resource) const {
  const server::Kind* kind = core_.kinds().find(resource);
  if (kind == nullptr) {
    return fail(ErrorCode::NotFound, "the server could not find the requested resource");
  }
  return kind;
}

Task<Result<ListPage>> LocalCluster::list(const Resource& resource, ListOptions options) {
  const server::Kind* kind = CO_TRY(kind_of(resource));
  co_return co_await core_.list(*kind, std::move(options));
}

Task<Result<std::unique_ptr<Watch>>> LocalCluster::watch(const Resource& resource,
                                                         WatchOptions options) {
  const server::Kind* kind = CO_TRY(kind_of(resource));
  co_return CO_TRY(core_.watch(*kind, std::move(options)));
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
  co_return co_await core_.remove(*kind, std::move(key), std::move(options));
}

Task<Result<void>> LocalCluster::bind(ObjectKey pod, std::string pod_uid, std::string node) {
  return core_.bind(std::move(pod), std::move(pod_uid), std::move(node));
}

Task<Result<Token>> LocalCluster::create_token(ObjectKey service_account, TokenRequest request) {
  return core_.create_token(std::move(service_account), std::move(request));
}

Task<Result<std::unique_ptr<LogStream>>> LocalCluster::log(ObjectKey pod, LogOptions options) {
  return core_.log(std::move(pod), std::move(options));
}

}  // namespace muster::cluster
