#include "server/rules/addresses.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::server {
namespace {

std::optional<std::uint32_t> parse_address(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  std::uint32_t address = 0;
  for (const std::string_view part : parts) {
    const auto number = parse_int(part);
    if (!number || *number < 0 || *number > 255 || (part.size() > 1 && part[0] == '0')) {
      return std::nullopt;
    }
    address = (address << 8U) | static_cast<std::uint32_t>(*number);
  }
  return address;
}

std::string write_address(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24U, (address >> 16U) & 255U, (address >> 8U) & 255U,
                     address & 255U);
}

}  // namespace

Result<Addresses> Addresses::create(std::string_view range) {
  const auto parts = split(range, '/');
  const auto base = parts.size() == 2 ? parse_address(parts[0]) : std::nullopt;
  const auto bits = parts.size() == 2 ? parse_int(parts[1]) : std::nullopt;
  if (!base || !bits || *bits < 8 || *bits > 30) {
    return fail(ErrorCode::Invalid,
                fmt::format("\"{}\" is no service range; write one like 10.96.0.0/16", range));
  }
  const std::uint32_t count = 1U << static_cast<std::uint32_t>(32 - *bits);
  return Addresses(*base & ~(count - 1), count);
}

bool Addresses::contains(std::string_view address) const {
  const auto number = parse_address(address);
  return number && *number > base_ && *number < base_ + count_ - 1;
}

bool Addresses::take(std::string_view address) {
  return contains(address) && taken_.insert(*parse_address(address)).second;
}

std::optional<std::string> Addresses::take_next() {
  // Without the network's own, the broadcast and the first address, which is `kubernetes`.
  const std::uint32_t usable = count_ - 3;
  for (std::uint32_t tried = 0; tried < usable; ++tried) {
    const std::uint32_t offset = next_;
    next_ = next_ + 1 < count_ - 1 ? next_ + 1 : 2;
    if (taken_.insert(base_ + offset).second) return write_address(base_ + offset);
  }
  return std::nullopt;
}

void Addresses::release(std::string_view address) {
  if (const auto number = parse_address(address)) taken_.erase(*number);
}

std::string Addresses::first() const {
  return write_address(base_ + 1);
}

}  // namespace muster::server
