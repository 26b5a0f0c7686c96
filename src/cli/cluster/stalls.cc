#include "cli/cluster/stalls.h"

#include <fmt/format.h>

namespace muster::cli {
namespace {

// What people notice, and what a lease or a probe begins to suffer from.
constexpr Duration kWorthAWarning = std::chrono::milliseconds(100);

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::string stall_metrics(const rt::RealLoop& loop) {
  return fmt::format(
      "# HELP muster_loop_longest_stall_seconds The longest that one callback kept the loop.\n"
      "# TYPE muster_loop_longest_stall_seconds gauge\n"
      "muster_loop_longest_stall_seconds {:.6f}\n",
      seconds(loop.longest_stall()));
}

Task<void> warn_of_stalls(rt::RealLoop& loop, Logger log) {
  while (co_await rt::sleep_for(loop, std::chrono::seconds(1))) {
    const Duration recent = loop.take_recent_stall();
    if (recent > kWorthAWarning) log.warning("the loop stood still for {:.3f} s", seconds(recent));
  }
  log.info("the loop stood still for {:.3f} s at most", seconds(loop.longest_stall()));
}

Task<void> WithMetrics::handle(const net::HttpRequest& request, net::Responder& responder) {
  if (request.method != "GET" || request.target != "/metrics") {
    co_await inner_.handle(request, responder);
    co_return;
  }
  [[maybe_unused]] const auto sent =
      co_await responder.respond({.status = 200,
                                  .headers = {{"Content-Type", "text/plain; version=0.0.4"}},
                                  .body = stall_metrics(loop_)});
}

}  // namespace muster::cli
