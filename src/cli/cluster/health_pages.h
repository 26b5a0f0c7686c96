#pragma once

#include <string>

#include "cluster/kube/request_counts.h"
#include "cluster/leader.h"
#include "controller/controller.h"
#include "net/http_server.h"
#include "rt/real_loop.h"

namespace muster::cli {

// /healthz, /readyz and /metrics of an operator. Lives as long as it does; all that it is handed
// outlives it.
class HealthPages final : public net::HttpHandler {
 public:
  // Without an election it leads.
  HealthPages(const rt::RealLoop& loop, const cluster::Leader* leader,
              const cluster::kube::RequestCounts& requests)
      : loop_(loop), leader_(leader), requests_(requests) {}

  Task<void> handle(const net::HttpRequest& request, net::Responder& responder) override;
  // All figures, in Prometheus' text form.
  [[nodiscard]] std::string metrics() const;

  bool acts = true;  // false: a standby
  const controller::Controller* controller = nullptr;

 private:
  const rt::RealLoop& loop_;
  const cluster::Leader* leader_;
  const cluster::kube::RequestCounts& requests_;
};

}  // namespace muster::cli
