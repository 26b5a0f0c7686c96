#include "server/embedded.h"

namespace muster::server {

Task<Result<std::unique_ptr<EmbeddedServer>>> EmbeddedServer::create(Options options) {
  auto store = CO_TRY(Store::open({.loop = options.loop,
                                   .pool = options.pool,
                                   .home = options.home,
                                   .lock = std::move(options.lock),
                                   .snapshot = options.snapshot,
                                   .log = options.log}));
  Store& kept = *store;
  auto volumes = std::move(options.volumes);
  if (!volumes && !options.home.empty() && !options.snapshot)
    volumes = make_volume_directories(options.loop, *options.pool, options.home + "/volumes");
  auto core = CO_TRY(Core::create({.loop = options.loop,
                                   .rng = options.rng,
                                   .registry = options.registry,
                                   .service_range = options.service_range,
                                   .root_ca = options.root_ca,
                                   .token_key = std::move(options.token_key),
                                   .volumes = volumes.get(),
                                   .own_node = std::move(options.own_node),
                                   .log = options.log},
                                  std::move(store)));
  const auto started = co_await core->start();
  if (!started) {
    co_await core->close();
    co_return fail(started.error());
  }
  co_return std::unique_ptr<EmbeddedServer>(
      new EmbeddedServer(std::move(volumes), kept, std::move(core)));
}

void EmbeddedServer::on_failure(std::function<void(const Error&)> callback) {
  store_.on_failure(std::move(callback));
}

}  // namespace muster::server
