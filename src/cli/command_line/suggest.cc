#include "cli/command_line/suggest.h"

#include <algorithm>

#include <fmt/format.h>

#include "dialects/check/messages.h"

namespace muster::cli {
namespace {

constexpr std::size_t kShortestBeginning = 3;  // shorter ones say too little

std::optional<std::string> only_beginning(std::string_view word,
                                          const std::vector<std::string>& known) {
  if (word.size() < kShortestBeginning) return std::nullopt;
  const auto begins_so = [&](const std::string& name) { return name.starts_with(word); };
  const auto first = std::ranges::find_if(known, begins_so);
  if (first == known.end() || std::find_if(first + 1, known.end(), begins_so) != known.end())
    return std::nullopt;
  return *first;
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  const auto found =
      dialects::nearest(word, std::vector<std::string_view>(known.begin(), known.end()));
  return found.empty() ? only_beginning(word, known) : std::string(found);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto found = nearest(word, known);
  return found ? fmt::format("; did you mean {}?", *found) : std::string();
}

}  // namespace muster::cli
