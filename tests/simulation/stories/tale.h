#pragma once

#include <memory>
#include <string>

#include "api/object.h"
#include "plan/dialect.h"
#include "user.h"
#include "workload.h"

namespace muster::simulation {

// A workload in this world.
struct Tale {
  const Workload* workload = nullptr;
  json::Value job;
  const plan::Identity* identity = nullptr;
  std::unique_ptr<User> user;
  bool told = false;

  [[nodiscard]] std::string name() const { return api::name_of(job); }
};

inline Task<void> tell(Tale& tale) {
  co_await tale.user->pause(std::chrono::seconds(1));
  co_await tale.workload->story(*tale.user, tale.job);
  tale.told = true;
}

}  // namespace muster::simulation
