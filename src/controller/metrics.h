#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/reflector.h"
#include "controller/kind.h"

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

// Which resources cannot be followed at present, and how often that failed.
void append_reflectors(std::string& out, const std::vector<const cluster::Reflector*>& reflectors);
// Which kinds run, and which wait for their CRD.
void append_kinds(std::string& out, const std::vector<std::unique_ptr<Kind>>& kinds);

}  // namespace muster::controller
