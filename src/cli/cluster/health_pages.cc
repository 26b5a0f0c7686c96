#include "cli/cluster/health_pages.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "base/exposition.h"
#include "base/version.h"
#include "cli/cluster/stalls.h"

namespace muster::cli {
namespace {

using exposition::Type;

void append_build(std::string& out) {
  exposition::open(out, "muster_build_info", Type::Gauge, "The version that runs.");
  exposition::sample(out, "muster_build_info", {{"version", kVersion}}, 1);
}

// Resident memory in pages; the second number of the kernel's line.
std::uint64_t resident_pages() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  statm >> size >> resident;
  return resident;
}

void append_process(std::string& out) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  exposition::figure(out, "process_cpu_seconds_total", Type::Counter, "CPU time of this process.",
                     seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
  exposition::figure(out, "process_resident_memory_bytes", Type::Gauge,
                     "Memory that this process has in RAM.",
                     resident_pages() * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace

std::string HealthPages::metrics() const {
  std::string out;
  append_build(out);
  exposition::open(out, "leader_election_master_status", Type::Gauge,
                   "Whether this operator leads: 1, or stands by: 0.");
  exposition::sample(out, "leader_election_master_status", {{"name", "muster-operator"}},
                     leader_ == nullptr || leader_->may_write() ? 1 : 0);
  if (controller != nullptr) out += controller->metrics();
  requests_.append(out);
  out += stall_metrics(loop_);
  append_process(out);
  return out;
}

Task<void> HealthPages::handle(const net::HttpRequest& request, net::Responder& responder) {
  net::HttpResponse response{.status = 200, .body = "ok\n"};
  if (request.target == "/metrics") {
    response.headers = {{"Content-Type", std::string(exposition::kContentType)}};
    response.body = metrics();
  } else if (request.target == "/readyz") {
    // A standby is as ready as it gets.
    const std::string trouble = acts && controller != nullptr ? controller->trouble() : "";
    if (!trouble.empty()) response = {.status = 503, .body = trouble + "\n"};
  } else if (request.target != "/healthz") {
    response = {.status = 404, .body = "404 page not found\n"};
  }
  [[maybe_unused]] const auto sent = co_await responder.respond(std::move(response));
}

}  // namespace muster::cli
