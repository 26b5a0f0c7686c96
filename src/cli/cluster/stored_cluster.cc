#include "cli/cluster/stored_cluster.h"

#include "cluster/local/local_cluster.h"

namespace muster::cli {

Task<Result<std::unique_ptr<StoredCluster>>> StoredCluster::open(Context& context) {
  std::unique_ptr<StoredCluster> stored(new StoredCluster);
  stored->server_ =
      CO_TRY(co_await server::EmbeddedServer::create({.loop = context.loop,
                                                      .pool = &context.pool,
                                                      .rng = context.rng,
                                                      .registry = context.registry,
                                                      .home = context.home,
                                                      .snapshot = true,
                                                      .log = context.log.named("server")}));
  stored->cluster_ = std::make_unique<cluster::LocalCluster>(stored->server_->core());
  co_return stored;
}

}  // namespace muster::cli
