#pragma once

#include <functional>
#include <string_view>

#include "api/object.h"
#include "api/requests.h"
#include "base/random.h"
#include "net/http_server.h"
#include "node/exec/program_source.h"
#include "rt/loop.h"

namespace muster::node {

// An exec request as the API server sends it to a node.
struct ExecRequest {
  api::ObjectKey pod;
  api::ExecOptions options;
};
// From /exec/{namespace}/{pod}/{container}?command=…&input=1&output=1&error=1&tty=1. NotFound for
// other paths, BadRequest for a query that is not one.
Result<ExecRequest> parse_exec_request(std::string_view target);

// The part of the kubelet's HTTP interface that `kubectl exec` needs, over WebSocket only; what is
// not exec goes to `others`. Put it behind a NodeGate: whoever reaches it runs what he likes in
// every pod. Lives on the agent's loop; what it refers to outlives it.
class ExecEndpoint final : public net::HttpHandler {
 public:
  using FindPod = std::function<api::ObjectPtr(const api::ObjectKey&)>;

  ExecEndpoint(rt::Loop& loop, Rng& rng, ProgramSource& programs, FindPod find_pod,
               net::HttpHandler& others)
      : loop_(loop),
        rng_(rng),
        programs_(programs),
        find_pod_(std::move(find_pod)),
        others_(others) {}

  Task<void> handle(const net::HttpRequest& request, net::Responder& responder) override;

 private:
  // Success once the session is over; an error says that nothing was answered yet.
  Task<Result<void>> serve(const net::HttpRequest& request, net::Responder& responder);

  rt::Loop& loop_;
  Rng& rng_;
  ProgramSource& programs_;
  FindPod find_pod_;
  net::HttpHandler& others_;
};

}  // namespace muster::node
