#pragma once

#include <memory>

#include "cli/context.h"
#include "cluster/cluster.h"
#include "rt/task.h"
#include "server/embedded.h"

namespace muster::cli {

// This machine's cluster as its store holds it at this moment, for commands that only look. The
// home is free again once this is open. close() it before it is destroyed.
class StoredCluster {
 public:
  // AlreadyExists while the home has an owner.
  static Task<Result<std::unique_ptr<StoredCluster>>> open(Context& context);

  [[nodiscard]] cluster::Cluster& cluster() const { return *cluster_; }
  Task<void> close() { return server_->close(); }

 private:
  StoredCluster() = default;
  std::unique_ptr<server::EmbeddedServer> server_;
  std::unique_ptr<cluster::Cluster> cluster_;
};

}  // namespace muster::cli
