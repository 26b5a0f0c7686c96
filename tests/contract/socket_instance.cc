#include <filesystem>

#include "base/random.h"
#include "cluster/kube/config/files.h"
#include "cluster/kube/kube_cluster.h"
#include "instance.h"
#include "net/http_server.h"
#include "plan/dialect.h"
#include "rt/pool.h"
#include "server/embedded.h"
#include "server/http/http_front.h"

namespace muster::contract {
namespace {

// The embedded API server behind its UNIX socket, and the REST client in front of it.
class SocketInstance final : public Instance {
 public:
  SocketInstance() : pool_(1) {
    directory_ = std::filesystem::temp_directory_path() / ("muster-contract-" + make_uuid(rng_));
    std::filesystem::create_directories(directory_);
  }
  ~SocketInstance() override { std::filesystem::remove_all(directory_); }

  Result<void> start() {
    server_ = TRY(loop_.run(server::EmbeddedServer::create(
        {.loop = loop_, .pool = &pool_, .rng = rng_, .registry = registry_, .home = ""})));
    front_ = std::make_unique<server::HttpFront>(server_->core(), rng_);
    const std::string socket = (directory_ / "api.sock").string();
    http_ = std::make_unique<net::HttpServer>(loop_, TRY(net::listen_unix(loop_, socket)), *front_);
    http_->start();
    const cluster::kube::ClientConfig config{.context = "socket",
                                             .server = {.socket_path = socket}};
    cluster_ = TRY(cluster::kube::KubeCluster::create(loop_, pool_, config, files_, rng_,
                                                      {.user_agent = "muster-contract"}));
    return {};
  }
  rt::RealLoop& loop() override { return loop_; }
  cluster::Cluster& cluster() override { return *cluster_; }
  void close() override {
    loop_.run(cluster_->close());
    loop_.run(http_->close());
    loop_.run(server_->close());
  }

 private:
  rt::RealLoop loop_;
  rt::Pool pool_;
  SystemRng rng_;
  plan::Registry registry_;
  cluster::kube::HostFiles files_;
  std::filesystem::path directory_;
  std::unique_ptr<server::EmbeddedServer> server_;
  std::unique_ptr<server::HttpFront> front_;
  std::unique_ptr<net::HttpServer> http_;
  std::unique_ptr<cluster::kube::KubeCluster> cluster_;
};

}  // namespace

std::vector<InstanceFactory> socket_instances() {
  return {{"Socket", []() -> Result<std::unique_ptr<Instance>> {
             auto instance = std::make_unique<SocketInstance>();
             TRY(instance->start());
             return instance;
           }}};
}

}  // namespace muster::contract
