#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trainer/error.h"

namespace muster::trainer {

enum class Role : std::uint8_t { Standalone, Scheduler, Worker };

// What the job controller tells a process about its place in the job, in MindSpore's variables.
// With none of them set the process stands alone.
struct Environment {
  Role role = Role::Standalone;
  std::string node_id = "standalone";  // MS_NODE_ID
  std::string scheduler_host;          // MS_SCHED_HOST
  std::uint16_t scheduler_port = 0;    // MS_SCHED_PORT
  std::uint64_t workers = 1;           // MS_WORKER_NUM
  std::chrono::seconds topology_timeout{
      60};  // MS_TOPO_TIMEOUT: until all workers have found each other
  std::chrono::seconds node_timeout{30};  // MS_NODE_TIMEOUT: until a silent peer counts as lost
};

// Usually getenv(); an unset variable is nothing.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

[[nodiscard]] Result<Environment> read_environment(const Lookup& lookup);

}  // namespace muster::trainer
