#pragma once

#include <string>

#include "base/random.h"
#include "net/http_server.h"
#include "server/core.h"
#include "server/http/request.h"

namespace muster::server {

// Answers a watch until its time is up, its peer is gone or it has fallen behind. An error: it has
// not begun, and the client is to be told. `client` is whose watches are counted.
Task<Result<void>> serve_watch(Core& core, Rng& rng, const std::string& client,
                               const ApiRequest& request, net::Responder& responder);

}  // namespace muster::server
