#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/reflector.h"
#include "controller/kind.h"
#include "plan/verdict.h"

namespace muster::controller {

// What the controller counts, in Prometheus' text form: the counters that the Kubeflow operators
// have, by framework and namespace, and what was made for jobs.
class Metrics {
 public:
  enum class Job { Created, Deleted, Successful, Failed, Restarted };
  // Pairs of framework and namespace that are told apart: 1,000 of 5 counters are 400 kB a scrape.
  static constexpr std::size_t kMostPairs = 1000;
  // The namespace of those beyond them; none can have this name.
  static constexpr const char* kOtherNamespaces = "(others)";

  void count(Job what, const std::string& framework, const std::string& ns);
  // What a wave did: notes of creations and deletions, one by one or folded.
  void count(const std::vector<plan::Note>& notes);
  [[nodiscard]] std::string text() const;

 private:
  // All five of a pair appear with the first: a counter that begins at 1 has no increase.
  std::map<std::pair<std::string, std::string>, std::array<std::uint64_t, 5>> jobs_;
  std::uint64_t created_pods_ = 0;
  std::uint64_t deleted_pods_ = 0;
  std::map<std::string, std::uint64_t> not_created_ = {{"Pod", 0}};  // by kind of object
};

struct Followed {
  const cluster::Reflector* reflector;
  bool is_dispensable;  // the server does not have the resource, and need not: that is no trouble
};
// Which resources cannot be followed at present, how often that failed, when each last spoke.
void append_reflectors(std::string& out, const std::vector<Followed>& all);
// Which kinds run and which wait for their CRD, their jobs by state, and how looks at them went.
void append_kinds(std::string& out, const std::vector<std::unique_ptr<Kind>>& kinds);

}  // namespace muster::controller
