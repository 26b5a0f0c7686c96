#include "dialects/check/messages.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "json/write.h"

namespace muster::dialects {
namespace {

constexpr std::size_t kMostShown = 64;  // bytes of a value that a message repeats
constexpr std::string_view kCut = "…";

// The longest beginning of at most that many bytes. A cut inside a character would leave bytes that
// are not UTF-8.
std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

// How many characters to add, drop, replace or swap with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);  // of the row two above
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view written,
                         const std::vector<std::string_view>& candidates) {
  if (written.size() > kMostShown) return {};
  const std::string lower = to_lower(written);
  std::string_view best;
  std::size_t best_distance = 1 + std::max<std::size_t>(1, (written.size() + 1) / 3);
  for (const auto candidate : candidates) {
    if (candidate.empty()) continue;
    const auto distance = edit_distance(lower, to_lower(candidate));
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view nearest) {
  return nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest);
}

std::string did_you_mean(std::string_view written,
                         const std::vector<std::string_view>& candidates) {
  return did_you_mean(nearest(written, candidates));
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
    out += names[i];
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  std::string out;
  std::string short_text = printable(beginning(text, kMostShown));
  if (text.size() > kMostShown) short_text += kCut;
  json::write_string(out, short_text);
  return out;
}

std::string shown(const json::Value& value) {
  if (value.is_string()) return in_quotes(value.as_string());
  if (value.is_object() || value.is_array()) return std::string(value.type_name());
  return json::write(value);
}

}  // namespace muster::dialects
