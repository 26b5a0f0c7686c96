#include "trainer/environment.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "trainer/hyperparameters.h"
#include "trainer/node_id.h"
#include "trainer/numbers.h"

namespace muster::trainer {
namespace {

constexpr std::array kInjected = {"MS_SCHED_HOST", "MS_NODE_ID",    "MS_SCHED_PORT",
                                  "MS_SERVER_NUM", "MS_WORKER_NUM", "MS_ROLE"};
constexpr std::uint64_t kLongestTimeout = 86'400;

struct Limits {
  std::uint64_t least;
  std::uint64_t most;
};

Result<std::string> required(const Lookup& lookup, const char* name) {
  auto value = lookup(name);
  if (!value || value->empty()) {
    return usage_error(
        fmt::format("{} is not set: the MS_* variables come together from the job controller; set "
                    "{}, or none of them to train in "
                    "one process",
                    name, fmt::join(kInjected, ", ")));
  }
  return *value;
}

Result<std::uint64_t> whole_number(const char* name, const std::string& text, Limits limits) {
  const auto number = parse_number<std::uint64_t>(text);
  if (!number || *number < limits.least || *number > limits.most) {
    return usage_error(fmt::format("{} is '{}'; it must be a whole number from {} to {}", name,
                                   text, limits.least, limits.most));
  }
  return *number;
}

Result<std::uint64_t> required_number(const Lookup& lookup, const char* name, Limits limits) {
  return whole_number(name, TRY(required(lookup, name)), limits);
}

Result<std::chrono::seconds> timeout(const Lookup& lookup, const char* name,
                                     std::chrono::seconds preset) {
  const auto text = lookup(name);
  if (!text) {
    return preset;
  }
  return std::chrono::seconds(TRY(whole_number(name, *text, {1, kLongestTimeout})));
}

Result<Role> read_role(const Lookup& lookup) {
  const std::string role = TRY(required(lookup, "MS_ROLE"));
  if (role == "MS_SCHED") {
    return Role::Scheduler;
  }
  if (role == "MS_WORKER") {
    return Role::Worker;
  }
  if (role == "MS_PSERVER") {
    return usage_error(
        "MS_ROLE is 'MS_PSERVER', but workers of this trainer sum their gradients among "
        "themselves: remove the role PS "
        "from the job");
  }
  return usage_error(fmt::format("MS_ROLE is '{}'; it must be MS_SCHED or MS_WORKER", role));
}

}  // namespace

Result<Environment> read_environment(const Lookup& lookup) {
  Environment environment;
  environment.topology_timeout =
      TRY(timeout(lookup, "MS_TOPO_TIMEOUT", environment.topology_timeout));
  environment.node_timeout = TRY(timeout(lookup, "MS_NODE_TIMEOUT", environment.node_timeout));
  if (std::ranges::none_of(kInjected, [&](const char* name) { return lookup(name).has_value(); })) {
    return environment;
  }
  environment.role = TRY(read_role(lookup));
  environment.node_id = TRY(required(lookup, "MS_NODE_ID"));
  if (!is_node_id(environment.node_id)) {
    return usage_error(
        fmt::format("MS_NODE_ID is '{}'; it must be a name of at most 253 letters, digits, '-', "
                    "'_' and '.', as a pod has",
                    environment.node_id));
  }
  environment.scheduler_host = TRY(required(lookup, "MS_SCHED_HOST"));
  // A scheduler may take any free port, which it names on stdout; a worker has to know it.
  const std::uint64_t least_port = environment.role == Role::Scheduler ? 0 : 1;
  environment.scheduler_port = static_cast<std::uint16_t>(
      TRY(required_number(lookup, "MS_SCHED_PORT", {least_port, 65'535})));
  environment.workers = TRY(required_number(lookup, "MS_WORKER_NUM", {1, kMaxRanks}));
  static_cast<void>(TRY(required_number(lookup, "MS_SERVER_NUM", {0, kMaxRanks})));
  return environment;
}

}  // namespace muster::trainer
