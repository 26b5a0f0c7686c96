#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "rt/real_loop.h"

namespace muster::contract {

// One implementation of Cluster, ready for use; made anew for every case.
class Instance {
 public:
  virtual ~Instance() = default;
  [[nodiscard]] virtual rt::RealLoop& loop() = 0;
  [[nodiscard]] virtual cluster::Cluster& cluster() = 0;
  // Ends what the loop still runs; the last call.
  virtual void close() = 0;
};

struct InstanceFactory {
  std::string name;
  std::function<Result<std::unique_ptr<Instance>>()> make;

  friend void PrintTo(const InstanceFactory& factory, std::ostream* out) { *out << factory.name; }
};

std::vector<InstanceFactory> local_instances();
std::vector<InstanceFactory> socket_instances();
std::vector<InstanceFactory> kube_instances();

}  // namespace muster::contract
