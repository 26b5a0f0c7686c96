#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"

namespace muster::server {

// Hands out the ClusterIPs of an IPv4 range: each to one service at a time, the next one after the
// last that was given, so that an address just freed is not soon somebody else's.
class Addresses {
 public:
  // "10.96.0.0/16"; prefixes of 8 to 30 bits.
  static Result<Addresses> create(std::string_view range);

  [[nodiscard]] bool contains(std::string_view address) const;
  // True when it was free and is now taken.
  bool take(std::string_view address);
  std::optional<std::string> take_next();
  void release(std::string_view address);
  // Range base + 1: the service `kubernetes`.
  [[nodiscard]] std::string first() const;

 private:
  Addresses(std::uint32_t base, std::uint32_t count) : base_(base), count_(count) {}

  std::uint32_t base_;
  std::uint32_t count_;
  std::uint32_t next_ = 2;
  std::set<std::uint32_t> taken_;
};

}  // namespace muster::server
