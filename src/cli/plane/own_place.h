#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cli/context.h"
#include "node/agent/tier.h"
#include "node/network/forwarder.h"
#include "node/runtime/rootless/way_out.h"
#include "rt/scope.h"
#include "rt/task.h"

namespace muster::cli {

// Where a control plane without root and its pods are: in namespaces of their own, network
// included. Who is outside reaches its API through the port that was taken there before; a program
// of the machine carries their own connections out. For root it is where we are. Lives on the
// context's loop for as long as the process; close() it before it is destroyed.
class OwnPlace {
 public:
  // By who has the home's lock, while the process has no other thread.
  static Result<std::unique_ptr<OwnPlace>> enter(Context& context,
                                                 std::optional<std::uint16_t> api_port);

  // What can be done for pods here.
  [[nodiscard]] node::Tier tier() const;
  // Where the API has to listen, inside as outside.
  [[nodiscard]] std::optional<std::uint16_t> api_port() const { return api_port_; }
  Task<void> close();

 private:
  explicit OwnPlace(Context& context) : context_(context), scope_(context.loop) {}
  Result<void> enter_namespaces();
  Task<void> watch_way_out(Fd ended);

  Context& context_;
  std::optional<std::uint16_t> api_port_;
  std::unique_ptr<node::WayOut> way_out_;
  std::string no_way_out_;  // why, where programs for it are installed
  rt::TaskScope scope_;
  std::unique_ptr<node::Forwarder> outside_;
};

}  // namespace muster::cli
