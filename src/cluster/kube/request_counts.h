#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/exposition.h"

namespace muster::cluster::kube {

// The requests of one or several clients, repeats among them, by method and answer. Lives on their
// loop.
class RequestCounts {
 public:
  // Status 0: no answer came. A stream counts until its head is there.
  void record(const std::string& method, int status, Duration took);
  // In Prometheus' text form, by the names that client-go gives them.
  void append(std::string& out) const;

 private:
  // Methods are ours and statuses have three digits: there are never many.
  std::map<std::pair<std::string, int>, std::uint64_t> answers_;
  std::map<std::string, exposition::Histogram> durations_;
};

}  // namespace muster::cluster::kube
