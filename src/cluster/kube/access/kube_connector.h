#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/kube/access/credentials.h"
#include "cluster/kube/config/client_config.h"
#include "net/stream.h"

namespace muster::cluster::kube {

// Makes all connections to the server of a config, each with the certificates that are good at that
// moment. `protocols` are those that ALPN may choose from. `loop` and `pool` outlive it. What is
// wrong with certificates that are known already is told here.
Result<std::unique_ptr<net::Connector>> kube_connector(rt::RealLoop& loop, rt::Pool& pool,
                                                       ClientConfig config,
                                                       std::shared_ptr<Credentials> credentials,
                                                       std::vector<std::string> protocols);

}  // namespace muster::cluster::kube
