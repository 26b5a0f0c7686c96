#include "node/agent/taint.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/names.h"
#include "base/strings.h"

namespace muster::node {

Result<Taint> parse_taint(std::string_view text) {
  constexpr std::array<std::string_view, 3> kEffects = {"NoSchedule", "PreferNoSchedule",
                                                        "NoExecute"};
  const auto wrong = [text](std::string_view what) {
    return fail(ErrorCode::Invalid, fmt::format("\"{}\": {}; write KEY[=VALUE]:EFFECT, like {}",
                                                printable(text), what, kProcessesTaint));
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("the effect is missing");
  const auto effect = text.substr(colon + 1);
  if (std::ranges::find(kEffects, effect) == kEffects.end())
    return wrong("the effect is NoSchedule, PreferNoSchedule or NoExecute");
  const auto name = text.substr(0, colon);
  const auto equals = name.find('=');
  Taint out{.key = std::string(name.substr(0, equals)), .effect = std::string(effect)};
  if (equals != std::string_view::npos) out.value = name.substr(equals + 1);
  if (const auto why = api::check_label_key(out.key)) return wrong(*why);
  if (const auto why = api::check_label_value(out.value)) return wrong(*why);
  return out;
}

}  // namespace muster::node
