#include "json/rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::json {

Result<void> check_size(std::string_view text, const ReadLimits& limits) {
  if (text.size() <= limits.bytes) return {};
  return fail(ErrorCode::TooLarge,
              fmt::format("{} bytes of JSON, at most {} are read", text.size(), limits.bytes));
}

Result<void> check_keys(const Object& object) {
  // Sorted, so that a hostile document with many members stays cheap.
  std::vector<std::string_view> keys;
  keys.reserve(object.size());
  for (const auto& member : object) keys.emplace_back(member.first);
  std::ranges::sort(keys);
  const auto repeated = std::ranges::adjacent_find(keys);
  if (repeated == keys.end()) return {};
  return fail(ErrorCode::Parse, fmt::format("key \"{}\" appears twice in one object",
                                            printable(repeated->substr(0, 64))));
}

std::unexpected<Error> too_deep(const ReadLimits& limits) {
  return fail(ErrorCode::TooLarge, fmt::format("nested deeper than {} levels", limits.depth));
}

std::unexpected<Error> too_many_values(const ReadLimits& limits) {
  return fail(ErrorCode::TooLarge, fmt::format("more than {} values", limits.nodes));
}

std::unexpected<Error> not_json(std::string_view why) {
  return fail(ErrorCode::Parse, fmt::format("not JSON: {}", why));
}

}  // namespace muster::json
