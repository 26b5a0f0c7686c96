#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "plan/index_set.h"

namespace muster::plan {

// A number for each index, 0 where none was set; kept as runs of indexes that have the same. Ten
// thousand ranks that were all made anew once are one run, copied and read with every look.
class IndexCounts {
 public:
  IndexCounts() = default;
  IndexCounts(std::initializer_list<std::pair<int, std::int64_t>> counts);

  [[nodiscard]] std::int64_t at(int index) const;
  void set(int index, std::int64_t count);
  void clear() { runs_.clear(); }

  [[nodiscard]] bool empty() const { return runs_.empty(); }
  [[nodiscard]] std::int64_t sum() const;

  // By count: who has it.
  [[nodiscard]] std::map<std::int64_t, IndexSet> groups() const;
  static IndexCounts from(const std::map<std::int64_t, IndexSet>& groups);

  friend bool operator==(const IndexCounts&, const IndexCounts&) = default;

 private:
  struct Run {
    int first = 0;
    int last = 0;
    std::int64_t count = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  // The first run that ends at or after the index.
  [[nodiscard]] std::size_t position(int index) const;
  void take_out(int index);
  void merge_with_next(std::size_t at);

  std::vector<Run> runs_;  // ascending; neighbours differ or have a gap between them
};

}  // namespace muster::plan
