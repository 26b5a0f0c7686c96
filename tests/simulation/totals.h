#pragma once

#include <cstddef>
#include <map>

#include "fault.h"

namespace muster::simulation {

struct RunResult;

// What all runs of this process were; printed at its end, for whoever adds up several.
class Totals {
 public:
  static Totals& of_this_process();
  void add(const RunResult& result);
  void print() const;

 private:
  std::size_t runs_ = 0;
  std::size_t steps_ = 0;
  std::size_t calls_ = 0;
  std::map<Fault::Kind, std::size_t> faults_;
};

}  // namespace muster::simulation
