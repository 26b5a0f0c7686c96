#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/context.h"
#include "cluster/cluster.h"
#include "rt/task.h"

namespace muster::cluster::kube {
class KubeCluster;
}

namespace muster::cli {

class ControlPlane;

// How much of an embedded control plane a command needs when nobody else keeps one.
enum class PlaneParts { Store, All };

// The cluster that a command talks to: a real one by kubeconfig, the embedded one of a running
// Muster over its socket, or an embedded one of our own. close() it before it is destroyed.
class OpenCluster {
 public:
  // `--context` or `--kubeconfig` mean a real cluster; anything else is this machine.
  static Task<Result<std::unique_ptr<OpenCluster>>> open(Context& context, PlaneParts parts);
  OpenCluster();
  ~OpenCluster();

  [[nodiscard]] cluster::Cluster& cluster() const { return *cluster_; }
  // The same where it is reached through an API; null: it is an embedded one of our own.
  [[nodiscard]] cluster::kube::KubeCluster* remote() const { return remote_.get(); }
  [[nodiscard]] bool is_local() const { return local_; }
  // Ours alone: nobody goes on when we end.
  [[nodiscard]] bool owns_plane() const { return plane_ != nullptr; }
  // Where it is, for the first line of output.
  [[nodiscard]] const std::string& description() const { return description_; }
  // -n, else the context's, else "default".
  [[nodiscard]] const std::string& ns() const { return ns_; }
  Task<void> close();

 private:
  Task<Result<void>> open_kubernetes(Context& context);
  Task<Result<void>> open_local(Context& context, PlaneParts parts);

  cluster::Cluster* cluster_ = nullptr;
  std::unique_ptr<cluster::kube::KubeCluster> remote_;
  std::unique_ptr<ControlPlane> plane_;
  bool local_ = false;
  std::string description_;
  std::string ns_ = "default";
};

// Opens the target, runs the work on it and closes it. The exit code of the work; an error is
// printed and counts as a failure.
Task<int> with_cluster(Context& context, PlaneParts parts,
                       std::function<Task<Result<int>>(OpenCluster&)> work);

// The socket that a running Muster serves in its home.
std::string socket_path(const std::string& home);

}  // namespace muster::cli
