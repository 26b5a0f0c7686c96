#include "cli/cluster/capacity.h"

#include <fmt/format.h>

#include "api/names.h"
#include "base/strings.h"

namespace muster::cli {

Result<std::pair<std::string, std::int64_t>> parse_capacity(std::string_view text) {
  const auto bad = [text](std::string_view why) {
    return fail(ErrorCode::Invalid, fmt::format("\"{}\" {}", printable(text), why));
  };
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return bad("is not like nvidia.com/gpu=4");
  const auto name = text.substr(0, equals);
  const bool extended = name.contains('/') && !name.starts_with("kubernetes.io/") &&
                        !name.contains(".kubernetes.io/") && !name.starts_with("requests.");
  if (!extended || api::check_label_key(name)) {
    return bad("names no extended resource like nvidia.com/gpu; only those can be declared");
  }
  const auto amount = parse_int(text.substr(equals + 1));
  constexpr std::int64_t kMost = 1'000'000;
  if (!amount || *amount < 1 || *amount > kMost) {
    return bad("does not end in a number of them, 1 to 1000000, as in nvidia.com/gpu=4");
  }
  return std::pair(std::string(name), *amount);
}

std::string describe(const Capacity& capacity) {
  std::string out;
  for (const auto& [name, amount] : capacity) out += fmt::format("{}={}, ", name, amount);
  return out + "not real";
}

}  // namespace muster::cli
