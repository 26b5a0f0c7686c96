#include "cli/tables/items.h"

#include <algorithm>
#include <compare>
#include <optional>

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

struct Keyed {
  std::optional<api::Quantity> amount;
  std::string text;
  bool has_key = false;
  std::size_t place = 0;  // for equal keys: as they came
  Item item;
};

// Amounts only where every key is one: an order that changes from pair to pair is none.
void sort(std::vector<Keyed>& keyed) {
  const bool amounts = std::ranges::all_of(
      keyed, [](const Keyed& one) { return !one.has_key || one.amount.has_value(); });
  std::ranges::sort(keyed, [&](const Keyed& a, const Keyed& b) {
    if (a.has_key != b.has_key) return b.has_key;
    std::weak_ordering order = std::weak_ordering::equivalent;
    if (a.has_key) order = amounts ? *a.amount <=> *b.amount : natural_order(a.text, b.text);
    return order == 0 ? a.place < b.place : order < 0;
  });
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
    Keyed& one = keyed.emplace_back();
    one.item = item;
    one.place = keyed.size();
    one.has_key = !found.empty();
    if (!one.has_key) continue;
    if (auto amount = api::Quantity::from(*found.front())) one.amount = *amount;
    one.text = shown_result(*found.front());
  }
  if (!keyed.empty() && std::ranges::none_of(keyed, &Keyed::has_key)) {
    return fail(ErrorCode::BadRequest,
                fmt::format("--sort-by={}: no object has that; a path is like .metadata.name",
                            printable(path)));
  }
  sort(keyed);
  for (std::size_t i = 0; i < keyed.size(); ++i) items[i] = std::move(keyed[i].item);
  return {};
}

}  // namespace muster::cli
