#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "net/stream.h"
#include "rt/real_loop.h"
#include "rt/scope.h"
#include "rt/task.h"

namespace muster::node {

// Carries TCP connections of pods to the API, as bytes: TLS and tokens are between the two ends. It
// listens on the pods' bridge and takes only what comes in over that bridge, so neither the
// machine's other programs nor pods of other homes reach anything through it. Lives on the loop.
// Ends with close(), which ends the connections.
class Forwarder {
 public:
  struct Options {
    std::string address;  // of the bridge
    std::string device;   // the bridge
    // Asked for first, so that pods which outlived the last Muster find it again; 0: any.
    std::uint16_t port = 0;
    std::unique_ptr<net::Connector> target;
    Logger log;
  };

  static Result<std::unique_ptr<Forwarder>> start(rt::RealLoop& loop, Options options);
  // The same of whatever arrives at a listener.
  static std::unique_ptr<Forwarder> start(rt::RealLoop& loop,
                                          std::unique_ptr<net::Listener> listener,
                                          std::unique_ptr<net::Connector> target, Logger log);

  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }
  Task<void> close();

 private:
  Forwarder(rt::RealLoop& loop, std::unique_ptr<net::Listener> listener,
            std::unique_ptr<net::Connector> target, Logger log)
      : listener_(std::move(listener)),
        target_(std::move(target)),
        log_(std::move(log)),
        loop_(loop),
        scope_(loop) {}

  Task<void> accept_all();
  Task<void> carry(std::unique_ptr<net::Stream> client);

  std::unique_ptr<net::Listener> listener_;
  std::unique_ptr<net::Connector> target_;
  Logger log_;
  rt::RealLoop& loop_;
  std::size_t open_ = 0;
  rt::TaskScope scope_;
};

}  // namespace muster::node
