#pragma once

#include <cstdint>
#include <string>

namespace muster {

// The randomness seam: production draws from the kernel, simulation from a seed.
class Rng {
 public:
  virtual ~Rng() = default;
  virtual std::uint64_t next() = 0;

  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1).
  double unit();
};

class SystemRng final : public Rng {
 public:
  std::uint64_t next() override;
};

// splitmix64: small, fast, the same everywhere for a seed.
class SeededRng final : public Rng {
 public:
  explicit SeededRng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

// A version 4 UUID in its canonical text form.
std::string make_uuid(Rng& rng);

// `count` characters of the alphabet that Kubernetes uses for generateName suffixes.
std::string name_suffix(Rng& rng, int count);

}  // namespace muster
