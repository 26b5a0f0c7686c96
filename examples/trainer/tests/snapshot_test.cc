#include "trainer/snapshot.h"

#include <gtest/gtest.h>

#include "trainer/bytes.h"

namespace muster::trainer {
namespace {

Snapshot small_snapshot() {
  Snapshot snapshot =
      initial_snapshot({.epochs = 1, .steps_per_epoch = 4, .batch = 2, .hidden = 1});
  snapshot.step = 2;
  snapshot.losses = {2.5, 1.25};
  return snapshot;
}

// Puts a right checksum on bytes that were changed on purpose.
std::string signed_again(std::string bytes) {
  bytes.resize(bytes.size() - sizeof(std::uint64_t));
  append_number(bytes, checksum(bytes));
  return bytes;
}

TEST(SnapshotTest, SurvivesEncoding) {
  const Snapshot before = small_snapshot();
  const auto after = decode_snapshot(encode(before));
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->hyperparameters, before.hyperparameters);
  EXPECT_EQ(after->step, before.step);
  EXPECT_EQ(after->losses, before.losses);
  EXPECT_EQ(after->parameters, before.parameters);
}

TEST(SnapshotTest, EveryTornFileIsRejected) {
  const std::string whole = encode(small_snapshot());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ASSERT_FALSE(decode_snapshot(std::string_view(whole).substr(0, size))) << size << " bytes";
  }
  EXPECT_FALSE(decode_snapshot(whole + "x"));
}

TEST(SnapshotTest, EveryDamagedByteIsNoticed) {
  const std::string whole = encode(small_snapshot());
  for (std::size_t index = 0; index < whole.size(); ++index) {
    std::string damaged = whole;
    damaged[index] = static_cast<char>(damaged[index] ^ 0x40);
    ASSERT_FALSE(decode_snapshot(damaged)) << "byte " << index;
  }
}

TEST(SnapshotTest, SizesThatDoNotFitAreRejectedEvenWithARightChecksum) {
  const std::string whole = encode(small_snapshot());
  EXPECT_TRUE(decode_snapshot(signed_again(whole)));
  EXPECT_FALSE(decode_snapshot(signed_again(whole + "12345678")));

  Snapshot beyond_the_end = small_snapshot();
  beyond_the_end.step = 5;
  beyond_the_end.losses.resize(5);
  EXPECT_FALSE(decode_snapshot(encode(beyond_the_end)));

  Snapshot endless = small_snapshot();
  endless.hyperparameters.epochs = ~std::uint64_t{0};
  EXPECT_FALSE(decode_snapshot(encode(endless)));
}

}  // namespace
}  // namespace muster::trainer
