#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/plane/link.h"
#include "cluster/cluster.h"
#include "rt/scope.h"
#include "rt/task.h"

namespace muster::cluster::kube {
class KubeCluster;
}

namespace muster::cli {

class PlaneCluster;
class StoredCluster;

// What a command needs of this machine's cluster when nobody runs its control plane.
enum class PlaneParts {
  Store,  // to look at what is there; nothing is started, and nothing that it writes is kept
  All,    // somebody who carries out what it asks for: a plane is started
};

// The cluster that a command talks to: a real one by kubeconfig; or this machine's, through the
// control plane that runs in the home, started for us where none does; or what its store holds,
// without one. A plane that dies is replaced while we use it. close() it before it is destroyed.
class OpenCluster {
 public:
  // `--context` or `--kubeconfig` mean a real cluster; anything else is this machine.
  static Task<Result<std::unique_ptr<OpenCluster>>> open(Context& context, PlaneParts parts);
  OpenCluster();
  ~OpenCluster();

  [[nodiscard]] cluster::Cluster& cluster() const { return *cluster_; }
  // The same where it is reached through an API; null: nobody runs this machine's control plane.
  [[nodiscard]] cluster::kube::KubeCluster* remote() const;
  [[nodiscard]] bool is_local() const { return local_; }
  // Nobody keeps this plane up for its own sake: it goes when no command and no job needs it.
  [[nodiscard]] bool is_temporary() const;
  // Where it is, for the first line of output.
  [[nodiscard]] const std::string& description() const { return description_; }
  // What pods do without there, in a line; empty: nothing, or it is a cluster's business.
  [[nodiscard]] const std::string& tier() const { return tier_; }
  // -n, else the context's, else "default".
  [[nodiscard]] const std::string& ns() const { return ns_; }

  // The work; cancelled when the cluster cannot go on, and failure() then says why.
  template <class T>
  Task<T> guard(Task<T> work);
  [[nodiscard]] const std::optional<Error>& failure() const;

  // A temporary plane that nobody needs any more is gone on return.
  Task<void> close();
  // Once closed: what the plane stays for though no command uses it, like default/bert.
  [[nodiscard]] const std::vector<std::string>& unfinished() const { return unfinished_; }

 private:
  Task<Result<void>> open_kubernetes(Context& context);
  Task<Result<void>> open_local(Context& context, PlaneParts parts);
  Task<Result<void>> open_link(Context& context, PlaneLink::WhenAbsent absent);
  Task<Result<void>> open_stored(Context& context);
  Task<void> stop_on_failure(std::stop_source stop);

  rt::Loop* loop_ = nullptr;
  cluster::Cluster* cluster_ = nullptr;
  std::unique_ptr<cluster::kube::KubeCluster> remote_;
  std::unique_ptr<PlaneLink> link_;
  std::unique_ptr<PlaneCluster> plane_;
  std::unique_ptr<StoredCluster> stored_;
  bool local_ = false;
  std::string description_;
  std::string tier_;
  std::string ns_ = "default";
  std::vector<std::string> unfinished_;
};

// Opens the target, runs the work on it and closes it. The exit code of the work; an error is
// printed and counts as a failure.
Task<int> with_cluster(Context& context, PlaneParts parts,
                       std::function<Task<Result<int>>(OpenCluster&)> work);

// The socket that a control plane serves in its home.
std::string socket_path(const std::string& home);

template <class T>
Task<T> OpenCluster::guard(Task<T> work) {
  std::stop_source stop;
  const auto on_parent = [&stop] { stop.request_stop(); };
  const std::stop_callback linked(co_await rt::current_stop(), on_parent);
  rt::TaskScope scope(*loop_);
  scope.spawn(stop_on_failure(stop));
  auto guarded = std::move(work).with_stop(stop.get_token());
  T result = co_await std::move(guarded);
  co_await scope.close();
  co_return result;
}

}  // namespace muster::cli
