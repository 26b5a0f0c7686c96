#include "totals.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "world.h"

namespace muster::simulation {
namespace {

class PrintsTotals : public ::testing::Environment {
 public:
  void TearDown() override { Totals::of_this_process().print(); }
};

// GoogleTest owns it.
[[maybe_unused]] const auto* const kPrinter =
    ::testing::AddGlobalTestEnvironment(new PrintsTotals);  // NOLINT

}  // namespace

Totals& Totals::of_this_process() {
  static Totals all;
  return all;
}

void Totals::add(const RunResult& result) {
  ++runs_;
  steps_ += result.steps;
  calls_ += result.calls;
  for (const Fault& fault : result.struck) ++faults_[fault.kind];
}

void Totals::print() const {
  fmt::print("sum: runs {}\nsum: steps {}\nsum: requests {}\n", runs_, steps_, calls_);
  for (const auto& [kind, count] : faults_) fmt::print("sum: {} {}\n", to_string(kind), count);
}

}  // namespace muster::simulation
