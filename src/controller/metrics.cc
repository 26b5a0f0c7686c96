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

}  // namespace muster::controller
