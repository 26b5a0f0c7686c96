#pragma once

#include "base/random.h"
#include "net/http_server.h"
#include "rt/task.h"
#include "server/access/gatekeeper.h"
#include "server/core.h"
#include "server/http/pod_metrics.h"
#include "server/http/request.h"
#include "server/http/request_path.h"

namespace muster::server {

// The Kubernetes REST API over a core: what an HTTP server calls for each request. It keeps nothing
// of its own. JSON in and out. Without a gatekeeper whoever can reach the listener may do
// everything, so that must be a socket of the owner. Lives on the core's loop; what it is given
// outlives it.
class HttpFront final : public net::HttpHandler {
 public:
  HttpFront(Core& core, Rng& rng, const Gatekeeper* gate = nullptr)
      : core_(core), rng_(rng), gate_(gate) {}

  // Without: no pod uses anything.
  void set_metrics_source(MetricsSource* source) { metrics_ = source; }

  Task<void> handle(const net::HttpRequest& http, net::Responder& responder) override;

 private:
  using Answer = Task<Result<net::HttpResponse>>;

  Task<Result<void>> serve(const net::HttpRequest& http, RequestPath path,
                           net::Responder& responder);
  // What a request that may not be served is told. `client` is who the token says, if one is
  // needed.
  std::optional<net::HttpResponse> refuse(const net::HttpRequest& http, const RequestPath& path,
                                          std::string& client) const;
  Task<Result<void>> send(net::HttpResponse response, net::Responder& responder);
  net::HttpResponse fixed(const RequestPath& path) const;

  Answer answer(ApiRequest& request);
  Answer list(const ApiRequest& request);
  Answer get(const ApiRequest& request);
  Answer create(const ApiRequest& request);
  Answer update(const ApiRequest& request, Core::Part part);
  Answer patch(const ApiRequest& request, Core::Part part);
  Answer remove(ApiRequest& request);
  Answer remove_collection(ApiRequest& request);
  Answer bind(const ApiRequest& request);
  Answer create_token(const ApiRequest& request);
  Task<Result<void>> log(const ApiRequest& request, net::Responder& responder);

  Core& core_;
  Rng& rng_;
  const Gatekeeper* gate_;
  MetricsSource* metrics_ = nullptr;
};

}  // namespace muster::server
