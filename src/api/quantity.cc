#include "api/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::api {
namespace {

using Wide = unsigned __int128;

constexpr Wide kMostWrittenMilli = std::numeric_limits<std::int64_t>::max();
// Kubernetes caps quantities at 2^63-1 whole units.
constexpr Wide kMostMilli = static_cast<Wide>(std::numeric_limits<std::int64_t>::max()) * 1000;
// 10^19 < 2^64, so that digits × 2^60 × 10 stays below 2^128.
constexpr int kMostDigits = 19;

struct Scale {
  int decimal = 0;
  int binary = 0;
};

struct NamedScale {
  std::string_view suffix;
  Scale scale;
};

constexpr std::array kScales = {
    NamedScale{"", {}},
    NamedScale{"n", {.decimal = -9}},
    NamedScale{"u", {.decimal = -6}},
    NamedScale{"m", {.decimal = -3}},
    NamedScale{"k", {.decimal = 3}},
    NamedScale{"M", {.decimal = 6}},
    NamedScale{"G", {.decimal = 9}},
    NamedScale{"T", {.decimal = 12}},
    NamedScale{"P", {.decimal = 15}},
    NamedScale{"E", {.decimal = 18}},
    NamedScale{"Ki", {.binary = 10}},
    NamedScale{"Mi", {.binary = 20}},
    NamedScale{"Gi", {.binary = 30}},
    NamedScale{"Ti", {.binary = 40}},
    NamedScale{"Pi", {.binary = 50}},
    NamedScale{"Ei", {.binary = 60}},
};

std::optional<Scale> scale_of(std::string_view suffix) {
  const auto* const named = std::ranges::find(kScales, suffix, &NamedScale::suffix);
  if (named != kScales.end()) return named->scale;
  if (suffix[0] != 'e' && suffix[0] != 'E') return std::nullopt;
  std::string_view digits = suffix.substr(1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const auto exponent =
      digits.starts_with("-") && suffix[1] == '+' ? std::nullopt : parse_int(digits);
  if (!exponent) return std::nullopt;
  // Beyond ±100 every number is zero or capped.
  return Scale{.decimal = static_cast<int>(std::clamp<std::int64_t>(*exponent, -100, 100))};
}

// A number before scaling: digits × 10^exponent, `more` when smaller digits were left out.
struct Decimal {
  Wide digits = 0;
  int exponent = 0;
  bool more = false;
};

// Takes the digits off the front of `text`; nothing when there is none.
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal number;
  int kept = 0;
  bool seen = false;
  bool fraction = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    seen = true;
    if (kept == kMostDigits) {
      number.more = number.more || c != '0';
      if (!fraction) ++number.exponent;
      continue;
    }
    number.digits = number.digits * 10 + static_cast<Wide>(c - '0');
    if (number.digits > 0) ++kept;
    if (fraction) --number.exponent;
  }
  return seen ? std::optional(number) : std::nullopt;
}

// Thousandths are held as far as 64 bits write them; a larger amount is whole.
Wide without_excess(Wide milli) {
  return milli <= kMostWrittenMilli ? milli : (milli + 999) / 1000 * 1000;
}

// In thousandths, rounded away from zero, capped.
Wide to_milli(const Decimal& number, Scale scale) {
  Wide value = number.digits << static_cast<unsigned>(scale.binary);
  bool more = number.more;
  int exponent = number.exponent + scale.decimal + 3;
  for (; exponent > 0 && value > 0 && value <= kMostMilli; --exponent) value *= 10;
  for (; exponent < 0 && value > 0; ++exponent) {
    more = more || value % 10 != 0;
    value /= 10;
  }
  return std::min(without_excess(value + (more ? 1U : 0U)), kMostMilli);
}

std::int64_t saturate(__int128 value) {
  constexpr __int128 kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(value, -kMost, kMost));
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::Invalid,
                fmt::format("\"{}\" is not a quantity like 500m, 2, 1.5 or 16Gi",
                            printable(text.substr(0, 64))));
  };
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.size() > 256) return bad();
  const auto number = take_decimal(rest);
  if (!number) return bad();
  const auto scale = scale_of(rest);
  if (!scale) return bad();
  const auto milli = static_cast<__int128>(to_milli(*number, *scale));
  return Quantity(negative ? -milli : milli);
}

Result<Quantity> Quantity::from(const json::Value& value) {
  if (value.is_string()) return parse(value.as_string());
  if (value.is_int()) return of(value.as_int());
  if (value.is_double()) return parse(fmt::format("{}", value.as_double()));
  return fail(ErrorCode::Invalid,
              fmt::format("a quantity is a string or a number, not {}", value.type_name()));
}

std::int64_t Quantity::milli() const {
  return saturate(milli_);
}

std::int64_t Quantity::whole() const {
  const __int128 rounding = milli_ > 0 ? 999 : 0;
  return saturate((milli_ + rounding) / 1000);
}

std::string Quantity::text() const {
  if (milli_ % 1000 == 0) return fmt::format("{}", saturate(milli_ / 1000));
  return fmt::format("{}m", saturate(milli_));
}

}  // namespace muster::api
