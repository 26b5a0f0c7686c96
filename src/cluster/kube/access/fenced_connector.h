#pragma once

#include <memory>

#include "cluster/fence.h"
#include "net/stream.h"

namespace muster::cluster::kube {

// Connections over which no byte leaves once the fence is closed: it is asked before every TLS
// record. A process that was stopped between deciding and sending, and continued after its lease
// ran out, finds the connection refused instead of sending what it decided long ago. `fence`
// outlives the connector and its streams.
std::unique_ptr<net::Connector> fenced(std::unique_ptr<net::Connector> connector,
                                       const Fence& fence);

}  // namespace muster::cluster::kube
