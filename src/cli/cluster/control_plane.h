#pragma once

#include <memory>
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
  // Conflict when the home has another owner.
  static Task<Result<std::unique_ptr<ControlPlane>>> start(Context& context, PlaneParts parts);
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
