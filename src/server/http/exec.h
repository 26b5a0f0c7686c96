#pragma once

#include "base/error.h"
#include "base/random.h"
#include "net/http_server.h"
#include "rt/task.h"
#include "server/core.h"
#include "server/http/request.h"

namespace muster::server {

// pods/exec: a program inside a running container, over a WebSocket. Success once the session is
// over; an error says that nothing was answered yet.
Task<Result<void>> serve_exec(Core& core, Rng& rng, const ApiRequest& request,
                              net::Responder& responder);

}  // namespace muster::server
