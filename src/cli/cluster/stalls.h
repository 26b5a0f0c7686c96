#pragma once

#include <string>

#include "base/log.h"
#include "net/http_server.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace muster::cli {

// What the loop of this process did and what kept it from its work, in Prometheus' text form.
std::string stall_metrics(const rt::RealLoop& loop);

// Warns of every stretch longer than a tenth of a second, and at the end says the longest. Runs
// until cancelled.
Task<void> warn_of_stalls(rt::RealLoop& loop, Logger log);

// Answers /metrics and hands everything else on. Loop and inner handler outlive it.
class WithMetrics final : public net::HttpHandler {
 public:
  WithMetrics(const rt::RealLoop& loop, net::HttpHandler& inner) : loop_(loop), inner_(inner) {}
  Task<void> handle(const net::HttpRequest& request, net::Responder& responder) override;

 private:
  const rt::RealLoop& loop_;
  net::HttpHandler& inner_;
};

}  // namespace muster::cli
