#include "cluster/kube/access/kube_connector.h"

#include <fmt/format.h>

#include "net/tls/tls.h"

namespace muster::cluster::kube {
namespace {

class KubeConnector final : public net::Connector {
 public:
  KubeConnector(rt::RealLoop& loop, rt::Pool& pool, ClientConfig config,
                std::shared_ptr<Credentials> credentials, std::vector<std::string> protocols)
      : loop_(loop),
        pool_(pool),
        config_(std::move(config)),
        credentials_(std::move(credentials)),
        protocols_(std::move(protocols)) {}

  // Again only when the certificates changed.
  Result<void> prepare() {
    if (tcp_ && made_of_ == credentials_->connection_version()) return {};
    auto context = net::TlsContext::client(
        {.ca_pem = credentials_->ca_pem(),
         .server_name = config_.tls_server_name,
         .identity = credentials_->identity(),
         .verification = config_.insecure ? net::Verification::Insecure : net::Verification::Full,
         .protocols = protocols_});
    if (!context) return fail(context.error().in(fmt::format("context \"{}\"", config_.context)));
    tcp_ = net::tcp_connector(
        loop_, pool_,
        {.host = config_.server.host, .port = config_.server.port, .tls = std::move(*context)},
        config_.proxy);
    made_of_ = credentials_->connection_version();
    return {};
  }

  Task<Result<std::unique_ptr<net::Stream>>> connect() override {
    credentials_->look_at_files();
    CO_TRY(co_await credentials_->refresh());
    CO_TRY(prepare());
    const auto tcp = tcp_;  // another connection may replace it meanwhile
    co_return co_await tcp->connect();
  }
  [[nodiscard]] std::string authority() const override { return config_.server.authority(); }
  [[nodiscard]] std::string scheme() const override { return "https"; }
  [[nodiscard]] std::string describe() const override { return "https://" + authority(); }

 private:
  rt::RealLoop& loop_;
  rt::Pool& pool_;
  ClientConfig config_;
  std::shared_ptr<Credentials> credentials_;
  std::vector<std::string> protocols_;
  std::shared_ptr<net::Connector> tcp_;
  std::uint64_t made_of_ = 0;
};

}  // namespace

Result<std::unique_ptr<net::Connector>> kube_connector(rt::RealLoop& loop, rt::Pool& pool,
                                                       ClientConfig config,
                                                       std::shared_ptr<Credentials> credentials,
                                                       std::vector<std::string> protocols) {
  if (config.server.is_socket()) return net::unix_connector(loop, config.server.socket_path);
  auto connector = std::make_unique<KubeConnector>(loop, pool, std::move(config),
                                                   std::move(credentials), std::move(protocols));
  TRY(connector->prepare());
  return connector;
}

}  // namespace muster::cluster::kube
