#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "json/value.h"

namespace muster::api {

// A resource quantity as Kubernetes writes it (500m, 1Gi, 1e3), held in thousandths.
class Quantity {
 public:
  Quantity() = default;
  static Result<Quantity> parse(std::string_view text);
  // From a JSON string or number, both of which manifests use.
  static Result<Quantity> from(const json::Value& value);
  static Quantity of(std::int64_t whole) { return Quantity(static_cast<__int128>(whole) * 1000); }

  [[nodiscard]] std::int64_t milli() const;  // saturates
  [[nodiscard]] std::int64_t whole() const;  // rounded up, saturates
  // Decimal with m, or plain: 1500m, 2.
  [[nodiscard]] std::string text() const;

  friend Quantity operator+(Quantity a, Quantity b) { return Quantity(a.milli_ + b.milli_); }
  friend Quantity operator-(Quantity a, Quantity b) { return Quantity(a.milli_ - b.milli_); }
  friend auto operator<=>(const Quantity&, const Quantity&) = default;

 private:
  explicit Quantity(__int128 milli) : milli_(milli) {}
  __int128 milli_ = 0;
};

}  // namespace muster::api
