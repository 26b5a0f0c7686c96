#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster::trainer {

inline constexpr std::size_t kFeatures = 32;
inline constexpr std::size_t kClasses = 10;

struct Batch {
  std::vector<double> features;  // kFeatures for each sample
  std::vector<std::size_t> labels;

  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] std::span<const double, kFeatures> sample(std::size_t index) const {
    return std::span<const double, kFeatures>(features.data() + index * kFeatures, kFeatures);
  }
};

// A classification task made of noisy clouds of points, two clouds for each class. Nothing is
// stored but the centres: a sample is computed from the seed, the shard and its index, so each rank
// has a data set of its own and every process agrees on what it holds.
class Dataset {
 public:
  explicit Dataset(std::uint64_t seed);

  // Fills `batch` with `size` samples of one rank's shard, from `first` on.
  void read(std::uint64_t shard, std::uint64_t first, std::size_t size, Batch& batch) const;

 private:
  std::uint64_t seed_;
  std::vector<double> centres_;  // kFeatures for each cloud
};

}  // namespace muster::trainer
