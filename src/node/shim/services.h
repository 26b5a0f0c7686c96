#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "node/linux/netlink.h"
#include "node/runtime/types.h"

namespace muster::node::shim {

// The service rules of the network namespace that the caller is in, which nobody else writes: a
// connection to a ClusterIP goes to one of its endpoints in turn, and is refused when it has none;
// so is everything else in the service range, which exists nowhere on the wire.
class ServiceTable {
 public:
  // In one transaction.
  Result<void> replace(const std::vector<ServiceRule>& rules, const std::string& service_range);

 private:
  // Kept open: closing it waits until the kernel has freed the rules that were replaced, which
  // takes 10 to 20 ms.
  std::optional<linux::Netlink> netlink_;
  bool written_ = false;
};

}  // namespace muster::node::shim
