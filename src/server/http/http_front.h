#pragma once

#include "base/random.h"
#include "net/http_server.h"
#include "rt/task.h"
#include "server/core.h"
#include "server/http/request.h"

namespace muster::server {

// The Kubernetes REST API over a core: what an HTTP server calls for each request. It keeps nothing
// of its own. JSON in and out; whoever can reach the listener may do everything, so that must be a
// socket of the owner. Lives on the core's loop; core and rng outlive it.
class HttpFront final : public net::HttpHandler {
 public:
  HttpFront(Core& core, Rng& rng) : core_(core), rng_(rng) {}

  Task<void> handle(const net::HttpRequest& request, net::Responder& responder) override;

 private:
  using Answer = Task<Result<net::HttpResponse>>;

  Task<Result<void>> serve(const net::HttpRequest& request, Target target,
                           net::Responder& responder);
  Task<Result<void>> send(net::HttpResponse response, net::Responder& responder);
  net::HttpResponse fixed(const Target& target) const;

  Answer answer(Call& call);
  Answer list(const Call& call);
  Answer get(const Call& call);
  Answer create(const Call& call);
  Answer update(const Call& call, Core::Part part);
  Answer patch(const Call& call, Core::Part part);
  Answer remove(Call& call);
  Answer remove_collection(Call& call);
  Answer bind(const Call& call);
  Answer create_token(const Call& call);
  Task<Result<void>> watch(const Call& call, net::Responder& responder);
  Task<Result<void>> watch_loop(const Call& call, Watcher& watch, Duration lifetime,
                                net::Responder& responder);
  Task<Result<void>> log(const Call& call, net::Responder& responder);

  Core& core_;
  Rng& rng_;
};

}  // namespace muster::server
