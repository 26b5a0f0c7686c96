#pragma once

#include "base/error.h"
#include "server/http/request.h"
#include "server/types.h"

// What the query (and of a delete, the body) asks for. BadRequest and Invalid in the real server's
// words.
namespace muster::server {

Result<DeleteOptions> read_delete_options(ApiRequest& request);
Result<ListOptions> read_list_options(const ApiRequest& request);
Result<WatchOptions> read_watch_options(const ApiRequest& request);
Result<LogOptions> read_log_options(const ApiRequest& request);

}  // namespace muster::server
