#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace muster::controller {

// The counters that the Kubeflow operators have, by framework and namespace, in Prometheus' text
// form.
class Metrics {
 public:
  enum class Job { Created, Deleted, Successful, Failed, Restarted };

  void count(Job what, const std::string& framework, const std::string& ns) {
    ++jobs_[static_cast<std::size_t>(what)][{framework, ns}];
  }
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::pair<std::string, std::string>, std::uint64_t> jobs_[5];
};

}  // namespace muster::controller
