#include "node/network/forwarder.h"

#include <array>

#include "base/limits.h"

namespace muster::node {
namespace {

constexpr Duration kRetry = std::chrono::milliseconds(100);

// Everything that one end sends, until it sends no more or either end is gone.
Task<void> pump(net::Stream& from, net::Stream& to) {
  std::array<char, 16384> buffer;
  while (true) {
    const auto got = co_await from.read(buffer);
    if (!got) break;
    if (*got == 0) {
      [[maybe_unused]] const auto said = co_await to.shutdown();
      co_return;
    }
    if (!co_await to.write({buffer.data(), *got})) break;
  }
  from.close();
  to.close();
}

}  // namespace

Result<std::unique_ptr<Forwarder>> Forwarder::start(rt::RealLoop& loop, Options options) {
  auto listener = net::listen_tcp(
      loop, {.address = options.address, .port = options.port, .device = options.device});
  if (!listener && options.port != 0) {
    listener = net::listen_tcp(loop, {.address = options.address, .device = options.device});
  }
  if (!listener) return fail(listener.error());
  return start(loop, std::move(*listener), std::move(options.target), std::move(options.log));
}

std::unique_ptr<Forwarder> Forwarder::start(rt::RealLoop& loop,
                                            std::unique_ptr<net::Listener> listener,
                                            std::unique_ptr<net::Connector> target, Logger log) {
  std::unique_ptr<Forwarder> made(
      new Forwarder(loop, std::move(listener), std::move(target), std::move(log)));
  made->scope_.spawn(made->accept_all());
  return made;
}

Task<void> Forwarder::accept_all() {
  while (!scope_.stopping()) {
    auto client = co_await listener_->accept();
    if (scope_.stopping()) co_return;
    if (!client) {
      log_.warning("{}", client.error().message);
      if (!co_await rt::sleep_for(loop_, kRetry)) co_return;  // out of descriptors, most likely
      continue;
    }
    if (open_ >= limits::kMaxConnections) continue;  // closed at once: the client tries again
    ++open_;
    scope_.spawn(carry(std::move(*client)));
  }
}

Task<void> Forwarder::carry(std::unique_ptr<net::Stream> client) {
  auto server = co_await target_->connect();
  if (server) {
    rt::TaskScope both(loop_);
    both.spawn(pump(*client, **server));
    // Ends with the server's end, or when it is cancelled; what the client still sends is for
    // nobody.
    co_await pump(**server, *client);
    client->close();
    (*server)->close();
    co_await both.close();
  } else {
    log_.warning("the API cannot be reached for a pod: {}", server.error().message);
  }
  --open_;
}

Task<void> Forwarder::close() {
  scope_.request_stop();
  listener_->close();
  co_await scope_.close();
}

}  // namespace muster::node
