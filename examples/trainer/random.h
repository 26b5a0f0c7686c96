#pragma once

#include <cstdint>
#include <numbers>

namespace muster::trainer {

// Scrambles 64 bits (the finaliser of splitmix64).
constexpr std::uint64_t scramble(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// A reproducible sequence that depends on nothing but its three keys: any rank can produce any
// sample without producing the ones before it. Only integer arithmetic and exact scaling, so the
// bits are the same on every machine.
class RandomStream {
 public:
  constexpr RandomStream(std::uint64_t seed, std::uint64_t purpose, std::uint64_t index)
      : state_(scramble(scramble(scramble(seed) + purpose) + index)) {}

  constexpr std::uint64_t next() { return scramble(state_ += 0x9e3779b97f4a7c15); }

  // In [0, 1), a multiple of 2^-53.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // Bell-shaped with mean 0 and variance 1: four uniform numbers of variance 1/12 each, their sum
  // centred and scaled by sqrt(12 / 4).
  constexpr double bell() {
    return (uniform() + uniform() + uniform() + uniform() - 2.0) * std::numbers::sqrt3;
  }

 private:
  std::uint64_t state_;
};

}  // namespace muster::trainer
