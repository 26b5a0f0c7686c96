#include "cluster/kube/request_counts.h"

namespace muster::cluster::kube {

void RequestCounts::record(const std::string& method, int status, Duration took) {
  ++answers_[{method, status}];
  durations_[method].record(took);
}

void RequestCounts::append(std::string& out) const {
  using exposition::Type;
  exposition::open(out, "rest_client_requests_total", Type::Counter,
                   "Requests to the API server by method and code; <error>: no answer came.");
  for (const auto& [what, value] : answers_) {
    const std::string code = what.second == 0 ? "<error>" : std::to_string(what.second);
    exposition::sample(out, "rest_client_requests_total", {{"code", code}, {"method", what.first}},
                       value);
  }
  exposition::open(out, "rest_client_request_duration_seconds", Type::Histogram,
                   "How long requests to the API server took; of a watch, until it began.");
  for (const auto& [method, took] : durations_)
    took.append(out, "rest_client_request_duration_seconds", {{"verb", method}});
}

}  // namespace muster::cluster::kube
