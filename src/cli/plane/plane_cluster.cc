#include "cli/plane/plane_cluster.h"

#include <fmt/format.h>

#include "api/object.h"
#include "base/random.h"
#include "cli/cluster/kube_client.h"
#include "cli/cluster/open_cluster.h"
#include "net/stream.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

constexpr int kMostTries = 10;
constexpr Duration kPause = milliseconds(5);
// 2 s: the connection of a plane that ends breaks at that moment.
constexpr int kMostRefusals = 400;
// As the server would do it.
constexpr std::size_t kLongestPrefix = 58;
constexpr int kSuffixLength = 5;

// Connects to whichever plane serves the home now. Lives on the context's loop; the link outlives
// it.
class LinkedConnector final : public net::Connector {
 public:
  LinkedConnector(Context& context, PlaneLink& link)
      : loop_(context.loop),
        link_(link),
        plain_(net::unix_connector(context.loop, socket_path(context.home))) {}

  Task<Result<std::unique_ptr<net::Stream>>> connect() override {
    int refusals = 0;
    while (true) {
      if (!link_.is_up()) refusals = 0;
      CO_TRY(co_await link_.ready());
      auto stream = co_await plain_->connect();
      if (stream || stream.error().code != ErrorCode::Unavailable) co_return stream;
      if (++refusals > kMostRefusals) {
        link_.abandon(stream.error());
        co_return stream;
      }
      // It ended just now; the link learns that by itself.
      CO_TRY(co_await rt::sleep_for(loop_, kPause));
    }
  }
  std::string authority() const override { return plain_->authority(); }
  std::string scheme() const override { return plain_->scheme(); }
  std::string describe() const override { return plain_->describe(); }

 private:
  rt::RealLoop& loop_;
  PlaneLink& link_;
  std::unique_ptr<net::Connector> plain_;
};

// So that a repeated creation finds what an earlier one made.
void choose_name(json::Value& object, Rng& rng) {
  const json::Value& seen = object;
  const std::string prefix = seen["metadata"]["generateName"].as_string();
  if (!api::name_of(object).empty() || prefix.empty()) return;
  object["metadata"]["name"] = prefix.substr(0, kLongestPrefix) + name_suffix(rng, kSuffixLength);
}

}  // namespace

Result<std::unique_ptr<PlaneCluster>> PlaneCluster::create(Context& context, PlaneLink& link) {
  std::unique_ptr<PlaneCluster> made(new PlaneCluster(context, link));
  const cluster::kube::ClientConfig config{.context = "local",
                                           .server = {.socket_path = socket_path(context.home)}};
  const auto connector = [&context, &link]() -> std::unique_ptr<net::Connector> {
    return std::make_unique<LinkedConnector>(context, link);
  };
  made->api_ = TRY(open_kube(context, config, {.connector = connector}));
  return made;
}

Task<Result<cluster::ObjectPtr>> PlaneCluster::write(Write send, bool& repeated) {
  for (int tries = 0;; ++tries) {
    auto answer = co_await send();
    if (answer || answer.error().code != ErrorCode::Unavailable || tries >= kMostTries)
      co_return answer;
    repeated = true;
    CO_TRY(co_await rt::sleep_for(context_.loop, kPause));
    CO_TRY(co_await link_.ready());
  }
}

Task<Result<cluster::ObjectPtr>> PlaneCluster::create(const api::Resource& resource,
                                                      json::Value object) {
  choose_name(object, context_.rng);
  const api::ObjectKey key = api::key_of(object);
  bool repeated = false;
  auto made = co_await write([&] { return api_->create(resource, object); }, repeated);
  // It was not there when the command looked, so it is ours.
  if (!made && repeated && made.error().code == ErrorCode::AlreadyExists)
    co_return co_await get(resource, key);
  co_return made;
}

Task<Result<cluster::ObjectPtr>> PlaneCluster::update(const api::Resource& resource,
                                                      json::Value object) {
  bool repeated = false;
  co_return co_await write([&] { return api_->update(resource, object); }, repeated);
}

Task<Result<cluster::ObjectPtr>> PlaneCluster::update_status(const api::Resource& resource,
                                                             json::Value object) {
  bool repeated = false;
  co_return co_await write([&] { return api_->update_status(resource, object); }, repeated);
}

Task<Result<cluster::ObjectPtr>> PlaneCluster::remove(const api::Resource& resource,
                                                      api::ObjectKey key,
                                                      cluster::DeleteOptions options) {
  bool repeated = false;
  auto gone = co_await write([&] { return api_->remove(resource, key, options); }, repeated);
  if (gone || !repeated || options.uid.empty()) co_return gone;
  const bool done =
      gone.error().code == ErrorCode::NotFound || gone.error().code == ErrorCode::Conflict;
  if (!done) co_return gone;
  co_return std::make_shared<const json::Value>(json::Object{
      {"metadata", json::Object{{"name", key.name}, {"namespace", key.ns}, {"uid", options.uid}}}});
}

Task<Result<cluster::ListPage>> PlaneCluster::list(const api::Resource& resource,
                                                   cluster::ListOptions options) {
  return api_->list(resource, std::move(options));
}

Task<Result<std::unique_ptr<cluster::Watch>>> PlaneCluster::watch(const api::Resource& resource,
                                                                  cluster::WatchOptions options) {
  return api_->watch(resource, std::move(options));
}

Task<Result<cluster::ObjectPtr>> PlaneCluster::get(const api::Resource& resource,
                                                   api::ObjectKey key) {
  return api_->get(resource, std::move(key));
}

Task<Result<void>> PlaneCluster::bind(api::ObjectKey pod, std::string pod_uid, std::string node) {
  return api_->bind(std::move(pod), std::move(pod_uid), std::move(node));
}

Task<Result<cluster::Token>> PlaneCluster::create_token(api::ObjectKey service_account,
                                                        cluster::TokenRequest request) {
  return api_->create_token(std::move(service_account), std::move(request));
}

Task<Result<std::unique_ptr<cluster::LogStream>>> PlaneCluster::log(api::ObjectKey pod,
                                                                    cluster::LogOptions options) {
  return api_->log(std::move(pod), std::move(options));
}

}  // namespace muster::cli
