#include "plan/index_counts.h"

#include <algorithm>

namespace muster::plan {

IndexCounts::IndexCounts(std::initializer_list<std::pair<int, std::int64_t>> counts) {
  for (const auto& [index, count] : counts) set(index, count);
}

std::size_t IndexCounts::position(int index) const {
  const auto found = std::ranges::lower_bound(runs_, index, {}, &Run::last);
  return static_cast<std::size_t>(found - runs_.begin());
}

std::int64_t IndexCounts::at(int index) const {
  const std::size_t at = position(index);
  return at < runs_.size() && runs_[at].first <= index ? runs_[at].count : 0;
}

void IndexCounts::set(int index, std::int64_t count) {
  if (at(index) == count) return;
  take_out(index);
  if (count == 0) return;
  const std::size_t at = position(index);
  runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(at), Run{index, index, count});
  merge_with_next(at);
  if (at > 0) merge_with_next(at - 1);
}

void IndexCounts::take_out(int index) {
  const std::size_t at = position(index);
  if (at == runs_.size() || runs_[at].first > index) return;
  const Run old = runs_[at];
  const auto place = runs_.begin() + static_cast<std::ptrdiff_t>(at);
  if (old.first == old.last) {
    runs_.erase(place);
  } else if (old.first == index) {
    ++place->first;
  } else {
    place->last = index - 1;
    if (index < old.last) runs_.insert(place + 1, Run{index + 1, old.last, old.count});
  }
}

void IndexCounts::merge_with_next(std::size_t at) {
  if (at + 1 >= runs_.size()) return;
  const Run& next = runs_[at + 1];
  if (runs_[at].last + 1 != next.first || runs_[at].count != next.count) return;
  runs_[at].last = next.last;
  runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
}

std::int64_t IndexCounts::sum() const {
  std::int64_t sum = 0;
  for (const Run& run : runs_) sum += run.count * (run.last - run.first + 1);
  return sum;
}

std::map<std::int64_t, IndexSet> IndexCounts::groups() const {
  std::map<std::int64_t, IndexSet> groups;
  for (const Run& run : runs_) groups[run.count].append({run.first, run.last});
  return groups;
}

IndexCounts IndexCounts::from(const std::map<std::int64_t, IndexSet>& groups) {
  IndexCounts out;
  for (const auto& [count, indexes] : groups) {
    if (count == 0) continue;
    for (const auto& [first, last] : indexes.ranges()) out.runs_.push_back({first, last, count});
  }
  std::ranges::sort(out.runs_, {}, &Run::first);
  // Who is in two groups was not put there by us.
  int end = 0;
  std::erase_if(out.runs_, [&](const Run& run) {
    const bool overlaps = run.first < end;
    if (!overlaps) end = run.last + 1;
    return overlaps;
  });
  return out;
}

}  // namespace muster::plan
