#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/context.h"
#include "node/runtime/runtime.h"
#include "rt/task.h"
#include "rt/wait.h"
#include "server/store/home_lock.h"

namespace muster::cli {

class Sessions;

// The embedded control plane, put together: API server with its store, controller, scheduler, node
// agent, and the socket for commands. One owner a home. close() it before it is destroyed; pods
// keep running until somebody deletes them.
class ControlPlane {
 public:
  struct Options {
    server::HomeLock lock;
    bool temporary = false;  // it is for those who hold a session, and ends with them
    // Where the API listens for others than the owner; without, where it did last time, or
    // anywhere.
    std::optional<std::uint16_t> api_port;
    std::string tier;                        // for whoever starts pods; empty for root
    std::unique_ptr<node::Runtime> runtime;  // where its pods run; none: on this machine
  };
  static Task<Result<std::unique_ptr<ControlPlane>>> start(Context& context, Options options);
  ~ControlPlane();

  [[nodiscard]] Sessions& sessions() const;
  // Why it cannot go on, once it cannot.
  [[nodiscard]] const std::optional<Error>& failure() const;
  rt::Event& failed();
  // Those who hold a session are told, with the failure where there is one.
  Task<void> close();

 private:
  struct Impl;
  explicit ControlPlane(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::cli
