#include "controller/metrics.h"

#include <array>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace muster::controller {

std::string Metrics::text() const {
  constexpr std::array<std::string_view, 5> kNames = {"created", "deleted", "successful", "failed",
                                                      "restarted"};
  std::string out;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    fmt::format_to(std::back_inserter(out),
                   "# HELP training_operator_jobs_{0}_total Jobs {0}.\n"
                   "# TYPE training_operator_jobs_{0}_total counter\n",
                   kNames[i]);
    for (const auto& [labels, value] : jobs_[i]) {
      fmt::format_to(
          std::back_inserter(out),
          "training_operator_jobs_{}_total{{framework=\"{}\",job_namespace=\"{}\"}} {}\n",
          kNames[i], labels.first, labels.second, value);
    }
  }
  return out;
}

void append_reflectors(std::string& out, const std::vector<const cluster::Reflector*>& reflectors) {
  out +=
      "# HELP muster_reflector_in_trouble Whether a resource cannot be listed or watched now.\n"
      "# TYPE muster_reflector_in_trouble gauge\n";
  for (const auto* reflector : reflectors) {
    fmt::format_to(std::back_inserter(out),
                   "muster_reflector_in_trouble{{resource=\"{}\",version=\"{}\"}} {}\n",
                   reflector->resource().qualified(), reflector->resource().version,
                   reflector->trouble() ? 1 : 0);
  }
  out +=
      "# HELP muster_reflector_failures_total Lists and watches that failed.\n"
      "# TYPE muster_reflector_failures_total counter\n";
  for (const auto* reflector : reflectors) {
    fmt::format_to(std::back_inserter(out),
                   "muster_reflector_failures_total{{resource=\"{}\",version=\"{}\"}} {}\n",
                   reflector->resource().qualified(), reflector->resource().version,
                   reflector->failed());
  }
}

void append_kinds(std::string& out, const std::vector<std::unique_ptr<Kind>>& kinds) {
  out +=
      "# HELP muster_kind_waits_for_crd Whether a kind waits for its CRD; then: kubectl apply -k "
      "deploy.\n"
      "# TYPE muster_kind_waits_for_crd gauge\n";
  for (const auto& kind : kinds) {
    fmt::format_to(
        std::back_inserter(out), "muster_kind_waits_for_crd{{kind=\"{}\",version=\"{}\"}} {}\n",
        kind->resource().qualified(), kind->resource().version, kind->is_absent() ? 1 : 0);
  }
}

}  // namespace muster::controller
