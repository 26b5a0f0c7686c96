#include <filesystem>

#include "base/random.h"
#include "cluster/local/local_cluster.h"
#include "instance.h"
#include "plan/dialect.h"
#include "rt/pool.h"
#include "server/embedded.h"

namespace muster::contract {
namespace {

// The embedded API server called directly. A file store lives in a directory that goes with it.
class LocalInstance final : public Instance {
 public:
  explicit LocalInstance(bool durable) : pool_(1) {
    if (!durable) return;
    home_ = std::filesystem::temp_directory_path() / ("muster-contract-" + make_uuid(rng_));
    std::filesystem::create_directories(home_);
  }
  ~LocalInstance() override {
    if (!home_.empty()) std::filesystem::remove_all(home_);
  }

  Result<void> start() {
    server_ = TRY(loop_.run(server::EmbeddedServer::create({.loop = loop_,
                                                            .pool = &pool_,
                                                            .rng = rng_,
                                                            .registry = registry_,
                                                            .home = home_.string()})));
    cluster_ = std::make_unique<cluster::LocalCluster>(server_->core());
    return {};
  }
  rt::RealLoop& loop() override { return loop_; }
  cluster::Cluster& cluster() override { return *cluster_; }
  void close() override { loop_.run(server_->close()); }

 private:
  rt::RealLoop loop_;
  rt::Pool pool_;
  SystemRng rng_;
  plan::Registry registry_;
  std::filesystem::path home_;
  std::unique_ptr<server::EmbeddedServer> server_;
  std::unique_ptr<cluster::LocalCluster> cluster_;
};

Result<std::unique_ptr<Instance>> make_local(bool durable) {
  auto instance = std::make_unique<LocalInstance>(durable);
  TRY(instance->start());
  return instance;
}

}  // namespace

std::vector<InstanceFactory> local_instances() {
  return {{"LocalMemory", [] { return make_local(false); }},
          {"LocalFile", [] { return make_local(true); }}};
}

}  // namespace muster::contract
