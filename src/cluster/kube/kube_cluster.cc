#include "cluster/kube/kube_cluster.h"

#include <fmt/format.h>

#include "api/object.h"
#include "cluster/kube/access/fenced_connector.h"
#include "cluster/kube/access/kube_connector.h"
#include "cluster/kube/answers.h"
#include "cluster/kube/requests.h"
#include "cluster/kube/streams.h"
#include "json/write.h"
#include "net/stream.h"

namespace muster::cluster::kube {
namespace {

// Leases carry leader election and node heartbeats: late is as bad as lost.
bool is_urgent(const Resource& resource) {
  return resource == api::leases();
}

Result<void> check_addressable(const Resource& resource, const ObjectKey& key) {
  if (resource.namespaced() && key.ns.empty()) {
    return fail(ErrorCode::BadRequest, fmt::format("{} \"{}\": metadata.namespace is missing",
                                                   resource.qualified(), key.name));
  }
  // Without a name the path would be that of the whole collection.
  if (key.name.empty()) {
    return fail(ErrorCode::BadRequest,
                fmt::format("{}: metadata.name is missing", resource.qualified()));
  }
  return {};
}

// Who gets this can ask for the same page in halves.
Error too_large_page(const Resource& resource, int limit, const Error& error) {
  return error.in(fmt::format("listing {} in {}", resource.qualified(),
                              limit > 0 ? fmt::format("pages of {}", limit) : "one page"));
}

// Takes the tree apart: thousands of requests may wait for their turn, and its text is a fifth of
// it.
std::string text_of(json::Value&& object) {
  std::string text = json::write(object);
  object = json::Value();
  return text;
}

}  // namespace

Result<std::unique_ptr<KubeCluster>> KubeCluster::create(rt::RealLoop& loop, rt::Pool& pool,
                                                         const ClientConfig& config,
                                                         const FileReader& files, Rng& rng,
                                                         KubeClusterOptions options) {
  auto credentials =
      std::make_shared<Credentials>(loop, config, files, std::make_unique<HostExecRunner>(loop));
  const auto connector = [&](std::vector<std::string> protocols) {
    if (options.connector) return Result<std::unique_ptr<net::Connector>>(options.connector());
    return kube_connector(loop, pool, config, credentials, std::move(protocols));
  };
  auto reads = std::make_unique<HttpTransport>(loop, TRY(connector({"h2", "http/1.1"})));
  std::unique_ptr<HttpTransport> writes;
  if (options.fence != nullptr) {
    writes = std::make_unique<HttpTransport>(
        loop, fenced(TRY(connector({"h2", "http/1.1"})), *options.fence));
  }
  KubeClientOptions client_options{.prefix = config.server.prefix,
                                   .user_agent = options.user_agent,
                                   .request_timeout = options.request_timeout,
                                   .retry = options.retry,
                                   .fence = options.fence,
                                   .counts = options.counts};
  // A WebSocket begins as HTTP/1.1.
  auto programs = std::make_unique<ProgramClient>(
      loop, TRY(connector({"http/1.1"})), credentials, rng,
      ProgramClient::Options{.prefix = config.server.prefix,
                             .user_agent = std::move(options.user_agent),
                             .request_timeout = options.request_timeout});
  return std::make_unique<KubeCluster>(
      std::make_unique<KubeClient>(loop, std::move(reads), std::move(writes), credentials, rng,
                                   std::move(client_options)),
      std::move(programs));
}

Task<Result<ListPage>> KubeCluster::list(const Resource& resource, ListOptions options) {
  Call call{.target = list_target(resource, options)};
  const auto body = co_await client_->call(std::move(call));
  auto page = body ? read_list(resource, *body) : fail(body.error());
  if (!page && page.error().code == ErrorCode::TooLarge) {
    co_return fail(too_large_page(resource, options.limit, page.error()));
  }
  co_return page;
}

Task<Result<std::unique_ptr<Watch>>> KubeCluster::watch(const Resource& resource,
                                                        WatchOptions options) {
  // Random, so that the watches of a fleet do not all end in the same second.
  const int timeout_seconds = 290 + static_cast<int>(client_->rng().below(61));
  Call call{.target = watch_target(resource, options, timeout_seconds)};
  auto stream = CO_TRY(co_await client_->open(std::move(call)));
  std::unique_ptr<Watch> watch = std::make_unique<KubeWatch>(std::move(stream));
  co_return watch;
}

Task<Result<ObjectPtr>> KubeCluster::get(const Resource& resource, ObjectKey key) {
  CO_TRY(check_addressable(resource, key));
  Call call{.target = object_path(resource, key), .urgent = is_urgent(resource)};
  const std::string body = CO_TRY(co_await client_->call(std::move(call)));
  co_return read_object(body);
}

Task<Result<ObjectPtr>> KubeCluster::write(const Resource& resource, std::string method,
                                           std::string target, std::string body) {
  Call call{.method = std::move(method),
            .target = std::move(target),
            .body = std::move(body),
            .effect = Effect::Writes,
            .urgent = is_urgent(resource)};
  const std::string answer = CO_TRY(co_await client_->call(std::move(call)));
  co_return read_object(answer);
}

Task<Result<ObjectPtr>> KubeCluster::create(const Resource& resource, json::Value object) {
  const std::string& ns = api::namespace_of(object);
  if (resource.namespaced() && ns.empty()) {
    co_return fail(ErrorCode::BadRequest, fmt::format("{} \"{}\": metadata.namespace is missing",
                                                      resource.qualified(), api::name_of(object)));
  }
  std::string path = collection_path(resource, ns);
  co_return co_await write(resource, "POST", std::move(path), text_of(std::move(object)));
}

Task<Result<ObjectPtr>> KubeCluster::update(const Resource& resource, json::Value object) {
  const ObjectKey key = api::key_of(object);
  CO_TRY(check_addressable(resource, key));
  co_return co_await write(resource, "PUT", object_path(resource, key), text_of(std::move(object)));
}

Task<Result<ObjectPtr>> KubeCluster::update_status(const Resource& resource, json::Value object) {
  const ObjectKey key = api::key_of(object);
  CO_TRY(check_addressable(resource, key));
  co_return co_await write(resource, "PUT", object_path(resource, key) + "/status",
                           text_of(std::move(object)));
}

Task<Result<ObjectPtr>> KubeCluster::remove(const Resource& resource, ObjectKey key,
                                            DeleteOptions options) {
  CO_TRY(check_addressable(resource, key));
  Call call{.method = "DELETE",
            .target = object_path(resource, key),
            .body = delete_body(options),
            .effect = Effect::Writes,
            .urgent = is_urgent(resource)};
  const std::string answer = CO_TRY(co_await client_->call(std::move(call)));
  co_return read_removed(resource, key, answer);
}

Task<Result<void>> KubeCluster::bind(ObjectKey pod, std::string pod_uid, std::string node) {
  CO_TRY(check_addressable(api::pods(), pod));
  Call call{.method = "POST",
            .target = object_path(api::pods(), pod) + "/binding",
            .body = binding_body(pod, pod_uid, node),
            .effect = Effect::Writes};
  CO_TRY(co_await client_->call(std::move(call)));
  co_return Result<void>{};
}

Task<Result<Token>> KubeCluster::create_token(ObjectKey service_account, TokenRequest request) {
  CO_TRY(check_addressable(api::service_accounts(), service_account));
  Call call{.method = "POST",
            .target = object_path(api::service_accounts(), service_account) + "/token",
            .body = token_body(request),
            .effect = Effect::Writes};
  const std::string answer = CO_TRY(co_await client_->call(std::move(call)));
  co_return read_token(answer);
}

Task<Result<std::unique_ptr<LogStream>>> KubeCluster::log(ObjectKey pod, LogOptions options) {
  CO_TRY(check_addressable(api::pods(), pod));
  Call call{.target = log_target(pod, options)};
  co_return CO_TRY(co_await client_->open(std::move(call)));
}

Task<Result<std::unique_ptr<rt::RemoteProgram>>> KubeCluster::exec(ObjectKey pod,
                                                                   api::ExecOptions options) {
  CO_TRY(check_addressable(api::pods(), pod));
  if (!programs_) co_return fail(ErrorCode::Unavailable, "there is no connection for programs");
  co_return co_await programs_->open(std::move(pod), std::move(options));
}

}  // namespace muster::cluster::kube
