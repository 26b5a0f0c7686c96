#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::plan {

// A set of indexes, kept and written as ranges: "0-9999", "0,4-7". Ten thousand ranks that share a
// fate take a few bytes.
class IndexSet {
 public:
  struct Range {
    int first = 0;
    int last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };

  void insert(int index);
  // A range that begins after everything that is in the set.
  void append(Range range);
  void erase(int index);
  // Everything from this index on.
  void erase_from(int index);
  void clear() { ranges_.clear(); }

  [[nodiscard]] bool contains(int index) const;
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] int end() const { return ranges_.empty() ? 0 : ranges_.back().last + 1; }
  [[nodiscard]] std::vector<int> values() const;
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }

  [[nodiscard]] std::string text() const;
  // Total: what cannot be read is left out.
  static IndexSet parse(std::string_view text);

  friend bool operator==(const IndexSet&, const IndexSet&) = default;

 private:
  // The first range that ends at or after the index.
  [[nodiscard]] std::size_t position(int index) const;

  std::vector<Range> ranges_;  // ascending, with gaps between them
};

}  // namespace muster::plan
