#include "cli/tables/items.h"

#include <algorithm>
#include <cctype>
#include <compare>

#include <fmt/format.h>

#include "api/quantity.h"
#include "base/strings.h"
#include "cli/query/jsonpath.h"

namespace muster::cli {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The digits at the front, without leading zeros.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

// rank-2 before rank-10.
std::strong_ordering natural_order(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const auto left = take_digits(a);
      const auto right = take_digits(b);
      if (left.size() != right.size()) return left.size() <=> right.size();
      if (left != right) return left <=> right;
    } else if (a.front() != b.front()) {
      return static_cast<unsigned char>(a.front()) <=> static_cast<unsigned char>(b.front());
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() <=> b.size();
}

std::weak_ordering order_of(const json::Value& a, const json::Value& b) {
  const auto left = api::Quantity::from(a);
  const auto right = api::Quantity::from(b);
  if (left && right) return *left <=> *right;
  if (a.is_number() && b.is_number()) {
    return a.as_double() < b.as_double()   ? std::weak_ordering::less
           : a.as_double() > b.as_double() ? std::weak_ordering::greater
                                           : std::weak_ordering::equivalent;
  }
  return natural_order(shown_result(a), shown_result(b));
}

struct Keyed {
  json::Value key;
  bool has_key = false;
  std::size_t place = 0;  // for equal keys: as they came
  Item item;
};

bool comes_before(const Keyed& a, const Keyed& b) {
  if (a.has_key != b.has_key) return b.has_key;
  const auto order = a.has_key ? order_of(a.key, b.key) : std::weak_ordering::equivalent;
  return order == 0 ? a.place < b.place : order < 0;
}

}  // namespace

std::vector<Item> items_of(const std::vector<Listing>& listings) {
  std::vector<Item> items;
  for (const Listing& listing : listings) {
    for (const auto& object : listing.objects)
      items.push_back({.of = &listing.of, .object = object});
  }
  return items;
}

Result<void> sort_items(std::vector<Item>& items, std::string_view path) {
  const JsonPath wanted = TRY(JsonPath::parse(path));
  std::vector<Keyed> keyed;
  for (Item& item : items) {
    const auto found = TRY(wanted.find(*item.object));
    keyed.push_back({.key = found.empty() ? json::Value() : *found.front(),
                     .has_key = !found.empty(),
                     .place = keyed.size(),
                     .item = item});
  }
  if (!keyed.empty() && std::ranges::none_of(keyed, &Keyed::has_key)) {
    return fail(ErrorCode::BadRequest,
                fmt::format("--sort-by={}: no object has that; a path is like .metadata.name",
                            printable(path)));
  }
  std::ranges::sort(keyed, comes_before);
  for (std::size_t i = 0; i < keyed.size(); ++i) items[i] = std::move(keyed[i].item);
  return {};
}

}  // namespace muster::cli
