#include "trainer/data.h"

#include "trainer/random.h"

namespace muster::trainer {
namespace {

constexpr std::size_t kClouds = 2 * kClasses;
// Spread of the points around their centre, whose coordinates lie in [-1, 1): wide enough that the
// clouds touch and the loss has something to learn, narrow enough that it ends far below where it
// began.
constexpr double kNoise = 0.7;

// Keys that keep the streams of different uses apart.
constexpr std::uint64_t kCentrePurpose = 1;
constexpr std::uint64_t kShardPurpose = 1'000;

}  // namespace

Dataset::Dataset(std::uint64_t seed) : seed_(seed) {
  centres_.reserve(kClouds * kFeatures);
  for (std::size_t cloud = 0; cloud < kClouds; ++cloud) {
    RandomStream random(seed, kCentrePurpose, cloud);
    for (std::size_t feature = 0; feature < kFeatures; ++feature) {
      centres_.push_back(2.0 * random.uniform() - 1.0);
    }
  }
}

void Dataset::read(std::uint64_t shard, std::uint64_t first, std::size_t size, Batch& batch) const {
  batch.features.resize(size * kFeatures);
  batch.labels.resize(size);
  for (std::size_t sample = 0; sample < size; ++sample) {
    RandomStream random(seed_, kShardPurpose + shard, first + sample);
    const std::size_t cloud = random.next() % kClouds;
    batch.labels[sample] = cloud % kClasses;
    for (std::size_t feature = 0; feature < kFeatures; ++feature) {
      batch.features[sample * kFeatures + feature] =
          centres_[cloud * kFeatures + feature] + kNoise * random.bell();
    }
  }
}

}  // namespace muster::trainer
