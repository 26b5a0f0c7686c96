#include "cli/cluster/stalls.h"

#include "base/exposition.h"
#include "rt/loop_work.h"

namespace muster::cli {
namespace {

using exposition::seconds;

}  // namespace

std::string stall_metrics(const rt::RealLoop& loop) {
  using exposition::Type;
  const rt::LoopWork work = rt::work_of(loop);
  std::string out;
  exposition::figure(out, "muster_loop_longest_stall_seconds", Type::Gauge,
                     "The longest that one callback kept the loop.", seconds(loop.longest_stall()));
  exposition::figure(out, "muster_loop_stalls_total", Type::Counter,
                     "Callbacks that kept the loop for more than 0.1 s.", work.stalls);
  exposition::figure(out, "muster_loop_busy_seconds_total", Type::Counter,
                     "Time that the loop was not waiting.", seconds(work.busy));
  exposition::figure(out, "muster_loop_callbacks_total", Type::Counter, "Callbacks that it ran.",
                     work.callbacks);
  return out;
}

Task<void> warn_of_stalls(rt::RealLoop& loop, Logger log) {
  while (co_await rt::sleep_for(loop, std::chrono::seconds(1))) {
    const Duration recent = loop.take_recent_stall();
    if (recent > rt::kStall) log.warning("the loop stood still for {:.3f} s", seconds(recent));
  }
  log.info("the loop stood still for {:.3f} s at most", seconds(loop.longest_stall()));
}

Task<void> WithMetrics::handle(const net::HttpRequest& request, net::Responder& responder) {
  if (request.method != "GET" || request.target != "/metrics") {
    co_await inner_.handle(request, responder);
    co_return;
  }
  [[maybe_unused]] const auto sent = co_await responder.respond(
      {.status = 200,
       .headers = {{"Content-Type", std::string(exposition::kContentType)}},
       .body = stall_metrics(loop_)});
}

}  // namespace muster::cli
