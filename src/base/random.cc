#include "base/random.h"

#include <sys/random.h>

#include <fmt/format.h>

#include "base/check.h"

namespace muster {

std::uint64_t Rng::below(std::uint64_t bound) {
  CHECK(bound > 0);
  // Multiply-shift: the bias is under bound / 2^64, far below anything we draw for.
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64U);
}

double Rng::unit() {
  return static_cast<double>(next() >> 11U) * 0x1.0p-53;
}

std::uint64_t SystemRng::next() {
  std::uint64_t value = 0;
  CHECK(::getrandom(&value, sizeof value, 0) == sizeof value);
  return value;
}

std::uint64_t SeededRng::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

std::string make_uuid(Rng& rng) {
  const std::uint64_t high = (rng.next() & ~std::uint64_t{0xf000}) | 0x4000U;  // version 4
  const std::uint64_t low =
      (rng.next() & 0x3fff'ffff'ffff'ffffU) | 0x8000'0000'0000'0000U;  // variant 1
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, (high >> 16U) & 0xffffU,
                     high & 0xffffU, low >> 48U, low & 0xffff'ffff'ffffU);
}

std::string name_suffix(Rng& rng, int count) {
  // No vowels and no 0, 1, 3: nothing that spells or is misread.
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < count; ++i) suffix += kAlphabet[rng.below(kAlphabet.size())];
  return suffix;
}

}  // namespace muster
