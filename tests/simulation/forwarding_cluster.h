#pragma once

#include <memory>
#include <string>
#include <utility>

#include "cluster/cluster.h"

namespace muster::simulation {

// A Cluster that hands everything on; what stands between a client and its cluster overrides what
// it changes. The inner one outlives it.
class ForwardingCluster : public cluster::Cluster {
 public:
  explicit ForwardingCluster(cluster::Cluster& inner) : inner_(inner) {}

  Task<Result<cluster::ListPage>> list(const api::Resource& resource,
                                       cluster::ListOptions options) override {
    return inner_.list(resource, std::move(options));
  }
  Task<Result<std::unique_ptr<cluster::Watch>>> watch(const api::Resource& resource,
                                                      cluster::WatchOptions options) override {
    return inner_.watch(resource, std::move(options));
  }
  Task<Result<api::ObjectPtr>> get(const api::Resource& resource, api::ObjectKey key) override {
    return inner_.get(resource, std::move(key));
  }
  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override {
    return inner_.create(resource, std::move(object));
  }
  Task<Result<api::ObjectPtr>> update(const api::Resource& resource, json::Value object) override {
    return inner_.update(resource, std::move(object));
  }
  Task<Result<api::ObjectPtr>> update_status(const api::Resource& resource,
                                             json::Value object) override {
    return inner_.update_status(resource, std::move(object));
  }
  Task<Result<api::ObjectPtr>> remove(const api::Resource& resource, api::ObjectKey key,
                                      cluster::DeleteOptions options) override {
    return inner_.remove(resource, std::move(key), std::move(options));
  }
  Task<Result<void>> bind(api::ObjectKey pod, std::string pod_uid, std::string node) override {
    return inner_.bind(std::move(pod), std::move(pod_uid), std::move(node));
  }
  Task<Result<cluster::Token>> create_token(api::ObjectKey service_account,
                                            cluster::TokenRequest request) override {
    return inner_.create_token(std::move(service_account), std::move(request));
  }
  Task<Result<std::unique_ptr<cluster::LogStream>>> log(api::ObjectKey pod,
                                                        cluster::LogOptions options) override {
    return inner_.log(std::move(pod), std::move(options));
  }

 protected:
  cluster::Cluster& inner_;
};

}  // namespace muster::simulation
