#pragma once

#include <memory>
#include <string>

#include "api/object.h"
#include "api/requests.h"
#include "base/error.h"
#include "base/random.h"
#include "cluster/kube/access/credentials.h"
#include "net/http.h"
#include "net/stream.h"
#include "rt/loop.h"
#include "rt/remote_program.h"
#include "rt/task.h"

namespace muster::cluster::kube {

// Runs programs in containers through an API server: pods/exec over a WebSocket, each on a
// connection of its own. Lives on one loop; what it is given outlives it. The programs may outlive
// it.
class ProgramClient {
 public:
  struct Options {
    std::string prefix;  // of the server, in front of every path
    std::string user_agent;
    Duration request_timeout;  // until the program is started
  };
  // The connector must make connections that speak HTTP/1.1.
  ProgramClient(rt::Loop& loop, std::unique_ptr<net::Connector> connector,
                std::shared_ptr<Credentials> credentials, Rng& rng, Options options);

  // What the server says when it refuses; no error carries a token.
  Task<Result<std::unique_ptr<rt::RemoteProgram>>> open(api::ObjectKey pod,
                                                        api::ExecOptions options);

 private:
  net::HttpRequest request_of(const api::ObjectKey& pod, const api::ExecOptions& options) const;

  rt::Loop& loop_;
  std::unique_ptr<net::Connector> connector_;
  std::shared_ptr<Credentials> credentials_;
  Rng& rng_;
  Options options_;
};

}  // namespace muster::cluster::kube
