#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/context.h"
#include "cluster/cluster.h"
#include "rt/scope.h"
#include "rt/task.h"

namespace muster::cli {

enum class PlaneParts;

// The embedded control plane, put together: API server with its store, controller, scheduler, node
// agent, and the socket for other commands. One owner a home. close() it before it is destroyed;
// pods keep running until somebody deletes them.
class ControlPlane {
 public:
  // Conflict when the home has another owner. `api_port`: where the API listens for others than the
  // owner; without, where it did last time, or anywhere.
  static Task<Result<std::unique_ptr<ControlPlane>>> start(
      Context& context, PlaneParts parts, std::optional<std::uint16_t> api_port = std::nullopt);
  ~ControlPlane();

  [[nodiscard]] cluster::Cluster& cluster() const;
  // Why it cannot go on, once it cannot.
  [[nodiscard]] const std::optional<Error>& failure() const;
  rt::Event& failed();
  Task<void> close();

 private:
  struct Impl;
  explicit ControlPlane(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::cli
