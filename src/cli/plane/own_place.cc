#include "cli/plane/own_place.h"

#include <unistd.h>

#include "cli/cluster/network_api.h"
#include "node/runtime/own_namespaces.h"

namespace muster::cli {

Result<std::unique_ptr<OwnPlace>> OwnPlace::enter(Context& context,
                                                  std::optional<std::uint16_t> api_port) {
  std::unique_ptr<OwnPlace> place(new OwnPlace());
  place->api_port_ = api_port;
  if (::geteuid() == 0) return place;
  auto listener = TRY(listen_on_loopback(context, api_port));
  place->api_port_ = listener->port();
  TRY(node::enter_own_namespaces(context.home));
  auto target = net::tcp_connector(context.loop, context.pool,
                                   {.host = "127.0.0.1", .port = *place->api_port_});
  place->outside_ = node::Forwarder::start(context.loop, std::move(listener), std::move(target),
                                           context.log.named("outside"));
  return place;
}

Task<void> OwnPlace::close() {
  if (outside_) co_await outside_->close();
}

}  // namespace muster::cli
