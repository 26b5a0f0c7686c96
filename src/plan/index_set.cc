#include "plan/index_set.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::plan {
namespace {

// No job has more ranks; a longer text was not written by us.
constexpr int kLargestIndex = 1'000'000;

bool plausible(std::optional<std::int64_t> index) {
  return index && *index >= 0 && *index <= kLargestIndex;
}

}  // namespace

std::size_t IndexSet::position(int index) const {
  const auto found = std::ranges::lower_bound(ranges_, index, {}, &Range::last);
  return static_cast<std::size_t>(found - ranges_.begin());
}

bool IndexSet::contains(int index) const {
  const std::size_t at = position(index);
  return at < ranges_.size() && ranges_[at].first <= index;
}

void IndexSet::insert(int index) {
  if (contains(index)) return;
  std::size_t at = position(index);
  const bool follows = at > 0 && ranges_[at - 1].last == index - 1;
  const bool leads = at < ranges_.size() && ranges_[at].first == index + 1;
  const auto place = ranges_.begin() + static_cast<std::ptrdiff_t>(at);
  if (follows && leads) {
    ranges_[at - 1].last = ranges_[at].last;
    ranges_.erase(place);
  } else if (follows) {
    ranges_[at - 1].last = index;
  } else if (leads) {
    ranges_[at].first = index;
  } else {
    ranges_.insert(place, Range{index, index});
  }
}

void IndexSet::append(Range range) {
  if (!ranges_.empty() && ranges_.back().last + 1 == range.first) {
    ranges_.back().last = range.last;
  } else {
    ranges_.push_back(range);
  }
}

void IndexSet::erase(int index) {
  if (!contains(index)) return;
  const std::size_t at = position(index);
  const Range old = ranges_[at];
  const auto place = ranges_.begin() + static_cast<std::ptrdiff_t>(at);
  if (old.first == index && old.last == index) {
    ranges_.erase(place);
  } else if (old.first == index) {
    ++ranges_[at].first;
  } else if (old.last == index) {
    --ranges_[at].last;
  } else {
    ranges_[at].last = index - 1;
    ranges_.insert(place + 1, Range{index + 1, old.last});
  }
}

void IndexSet::erase_from(int index) {
  std::erase_if(ranges_, [&](const Range& range) { return range.first >= index; });
  if (!ranges_.empty()) ranges_.back().last = std::min(ranges_.back().last, index - 1);
}

std::size_t IndexSet::size() const {
  std::size_t sum = 0;
  for (const Range& range : ranges_) sum += static_cast<std::size_t>(range.last - range.first) + 1;
  return sum;
}

std::vector<int> IndexSet::values() const {
  std::vector<int> all;
  all.reserve(size());
  for (const Range& range : ranges_) {
    for (int index = range.first; index <= range.last; ++index) all.push_back(index);
  }
  return all;
}

std::string IndexSet::text() const {
  std::string out;
  for (const Range& range : ranges_) {
    if (!out.empty()) out += ',';
    fmt::format_to(std::back_inserter(out), "{}", range.first);
    if (range.last > range.first) fmt::format_to(std::back_inserter(out), "-{}", range.last);
  }
  return out;
}

IndexSet IndexSet::parse(std::string_view text) {
  IndexSet out;
  for (const std::string_view part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(part.substr(dash + 1));
    if (!plausible(first) || !plausible(last) || *first > *last) continue;
    const Range range{static_cast<int>(*first), static_cast<int>(*last)};
    // We write them ascending; anything else was not written by us.
    if (!out.ranges_.empty() && range.first <= out.ranges_.back().last) continue;
    out.append(range);
  }
  return out;
}

}  // namespace muster::plan
