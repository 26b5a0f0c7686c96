#include <cstdlib>

#include "base/random.h"
#include "cluster/kube/config/files.h"
#include "cluster/kube/config/kubeconfig.h"
#include "cluster/kube/kube_cluster.h"
#include "instance.h"
#include "rt/pool.h"

namespace muster::contract {
namespace {

// A real API server through the REST client.
class KubeInstance final : public Instance {
 public:
  KubeInstance() : pool_(1) {}

  Result<void> start(const std::string& kubeconfig) {
    const auto config = TRY(cluster::kube::load_kubeconfig(
        {.paths = {kubeconfig}, .missing = cluster::kube::MissingFile::Fail}, files_));
    cluster_ = TRY(cluster::kube::KubeCluster::create(loop_, pool_, config, files_, rng_,
                                                      {.user_agent = "muster-contract"}));
    return {};
  }
  rt::RealLoop& loop() override { return loop_; }
  cluster::Cluster& cluster() override { return *cluster_; }
  void close() override { loop_.run(cluster_->close()); }

 private:
  rt::RealLoop loop_;
  rt::Pool pool_;
  SystemRng rng_;
  cluster::kube::HostFiles files_;
  std::unique_ptr<cluster::kube::KubeCluster> cluster_;
};

Result<std::unique_ptr<Instance>> make_kube(const std::string& kubeconfig) {
  auto instance = std::make_unique<KubeInstance>();
  TRY(instance->start(kubeconfig));
  return instance;
}

std::string variable(const char* name) {
  const char* value =
      std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread, before the tests
  return value == nullptr ? "" : value;
}

}  // namespace

std::vector<InstanceFactory> kube_instances() {
  const std::string kubeconfig = variable("MUSTER_TEST_KUBECONFIG");
  if (!kubeconfig.empty()) return {{"Kubernetes", [kubeconfig] { return make_kube(kubeconfig); }}};
  if (variable("MUSTER_TEST_REQUIRE_KUBERNETES") != "1") return {};
  return {{"Kubernetes", []() -> Result<std::unique_ptr<Instance>> {
             return fail(ErrorCode::NotFound,
                         "MUSTER_TEST_REQUIRE_KUBERNETES=1, but MUSTER_TEST_KUBECONFIG does not "
                         "name a kubeconfig; "
                         "start a cluster with tests/kubernetes/cluster");
           }}};
}

}  // namespace muster::contract
