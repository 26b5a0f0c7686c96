#include "cli/plane/own_place.h"

#include <unistd.h>

#include "cli/cluster/network_api.h"
#include "node/runtime/rootless/own_namespaces.h"
#include "node/runtime/runtime.h"
#include "rt/real_loop.h"

namespace muster::cli {

Result<std::unique_ptr<OwnPlace>> OwnPlace::enter(Context& context,
                                                  std::optional<std::uint16_t> api_port) {
  std::unique_ptr<OwnPlace> place(new OwnPlace(context));
  place->api_port_ = api_port;
  if (!node::needs_own_namespaces()) return place;
  auto listener = TRY(listen_on_loopback(context, api_port));
  place->api_port_ = listener->port();
  TRY(place->enter_namespaces());
  auto target = net::tcp_connector(context.loop, context.pool,
                                   {.host = "127.0.0.1", .port = *place->api_port_});
  place->outside_ = node::Forwarder::start(context.loop, std::move(listener), std::move(target),
                                           context.log.named("outside"));
  return place;
}

Result<void> OwnPlace::enter_namespaces() {
  way_out_ = node::WayOut::prepare(context_.env("PATH"), ::geteuid() != 0);
  TRY(node::enter_own_namespaces(context_.home));
  const auto opened = way_out_->open();
  if (!opened && opened.error().code != ErrorCode::NotFound) {
    no_way_out_ = opened.error().message;
    context_.log.named("way out").warning("{}", no_way_out_);
  }
  if (auto ended = way_out_->ended(); ended.valid()) scope_.spawn(watch_way_out(std::move(ended)));
  return {};
}

Task<void> OwnPlace::watch_way_out(Fd ended) {
  const auto* carrier = node::present_carrier();
  rt::Descriptor process(context_.loop, ended.release());
  if (!co_await process.readable()) co_return;
  context_.log.named("way out").warning(
      "{} has ended: pods do not reach out of the machine until the control plane starts again",
      carrier == nullptr ? "the program" : carrier->program);
}

node::Tier OwnPlace::tier() const {
  auto tier = node::find_tier(node::home_key(context_.home));
  tier.no_way_out = no_way_out_;
  return tier;
}

Task<void> OwnPlace::close() {
  co_await scope_.close();
  if (outside_) co_await outside_->close();
  way_out_.reset();
}

}  // namespace muster::cli
