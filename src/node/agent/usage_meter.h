#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "node/linux/usage.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace muster::node {

// How much a container uses: the mean of a stretch of time that ended just now.
struct UsageRate {
  std::string container;
  std::int64_t cpu_nanocores = 0;
  std::int64_t memory_bytes = 0;
};

struct PodUsage {
  Duration window{};
  std::vector<UsageRate> containers;
};

// What pods use. Counts only when somebody asks: from one question to the next, or, when the last
// one is long ago, over a moment. Lives on one loop, which outlives it.
class UsageMeter {
 public:
  // How the counters of a pod stand now; takes its time elsewhere than on the loop.
  using Read = std::function<Task<std::vector<linux::ContainerUsage>>(std::string pod_uid)>;

  UsageMeter(rt::Loop& loop, Read read) : loop_(loop), read_(std::move(read)) {}

  // By uid; pods of which nothing runs here are left out.
  Task<std::map<std::string, PodUsage>> measure(std::vector<std::string> pod_uids);

 private:
  struct Sample {
    Monotonic at;
    std::map<std::string, Duration> cpu_time;  // by container
  };
  using Counters = std::vector<linux::ContainerUsage>;

  Task<std::map<std::string, Counters>> read_all(std::vector<std::string> pod_uids);
  [[nodiscard]] bool lacks_recent(const std::vector<std::string>& pod_uids) const;
  void keep(const std::map<std::string, Counters>& counters);

  rt::Loop& loop_;
  Read read_;
  std::map<std::string, Sample> before_;  // by pod uid
};

}  // namespace muster::node
