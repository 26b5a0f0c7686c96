#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace muster::trainer {

// Files and frames are little-endian; on the machines this builds for that is also memory order.
static_assert(std::endian::native == std::endian::little);

template <class Number>
  requires std::is_arithmetic_v<Number>
void append_number(std::string& bytes, Number number) {
  const auto raw = std::bit_cast<std::array<char, sizeof(Number)>>(number);
  bytes.append(raw.data(), raw.size());
}

inline void append_numbers(std::string& bytes, std::span<const double> numbers) {
  if (!numbers.empty()) {
    const std::size_t before = bytes.size();
    bytes.resize(before + numbers.size_bytes());
    std::memcpy(bytes.data() + before, numbers.data(), numbers.size_bytes());
  }
}

// Takes numbers off the front of `bytes`; the caller has checked that they are there.
template <class Number>
  requires std::is_arithmetic_v<Number>
Number take_number(std::string_view& bytes) {
  std::array<char, sizeof(Number)> raw;
  bytes.copy(raw.data(), raw.size());
  bytes.remove_prefix(raw.size());
  return std::bit_cast<Number>(raw);
}

inline void take_numbers(std::string_view& bytes, std::span<double> numbers) {
  if (!numbers.empty()) {
    std::memcpy(numbers.data(), bytes.data(), numbers.size_bytes());
    bytes.remove_prefix(numbers.size_bytes());
  }
}

// FNV-1a, 64 bits: finds torn and damaged files. It is no defence against forgery, nor meant to be.
constexpr std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace muster::trainer
