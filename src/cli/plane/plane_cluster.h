#pragma once

#include <functional>
#include <memory>

#include "cli/context.h"
#include "cli/plane/link.h"
#include "cluster/cluster.h"
#include "cluster/kube/kube_cluster.h"

namespace muster::cli {

// The embedded cluster through the plane that serves it at the moment. Reads go on with the next
// plane by themselves. A write of which nobody knows whether it happened is sent again, and what it
// then finds done counts as done by it: a command must not fail because a plane died. Lives on the
// context's loop; the link outlives it. close() it before it is destroyed.
class PlaneCluster final : public cluster::Cluster {
 public:
  static Result<std::unique_ptr<PlaneCluster>> create(Context& context, PlaneLink& link);

  Task<void> close() { return api_->close(); }
  [[nodiscard]] cluster::kube::KubeCluster& api() const { return *api_; }

  Task<Result<cluster::ListPage>> list(const api::Resource& resource,
                                       cluster::ListOptions options) override;
  Task<Result<std::unique_ptr<cluster::Watch>>> watch(const api::Resource& resource,
                                                      cluster::WatchOptions options) override;
  Task<Result<cluster::ObjectPtr>> get(const api::Resource& resource, api::ObjectKey key) override;
  Task<Result<cluster::ObjectPtr>> create(const api::Resource& resource,
                                          json::Value object) override;
  Task<Result<cluster::ObjectPtr>> update(const api::Resource& resource,
                                          json::Value object) override;
  Task<Result<cluster::ObjectPtr>> update_status(const api::Resource& resource,
                                                 json::Value object) override;
  Task<Result<cluster::ObjectPtr>> remove(const api::Resource& resource, api::ObjectKey key,
                                          cluster::DeleteOptions options) override;
  Task<Result<void>> bind(api::ObjectKey pod, std::string pod_uid, std::string node) override;
  Task<Result<cluster::Token>> create_token(api::ObjectKey service_account,
                                            cluster::TokenRequest request) override;
  Task<Result<std::unique_ptr<cluster::LogStream>>> log(api::ObjectKey pod,
                                                        cluster::LogOptions options) override;

 private:
  PlaneCluster(Context& context, PlaneLink& link) : context_(context), link_(link) {}
  using Write = std::function<Task<Result<cluster::ObjectPtr>>()>;
  // Until it is answered; `repeated` says whether an earlier one may have happened.
  Task<Result<cluster::ObjectPtr>> write(Write send, bool& repeated);

  Context& context_;
  PlaneLink& link_;
  std::unique_ptr<cluster::kube::KubeCluster> api_;
};

}  // namespace muster::cli
