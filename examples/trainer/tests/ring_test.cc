#include "trainer/ring.h"

#include <atomic>
#include <functional>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

namespace muster::trainer {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

// Rings on the loopback, one thread for each rank.
class RingTest : public testing::Test {
 protected:
  void open(std::size_t ranks) {
    start_ = {.generation = 1, .session = 99, .rank = 0, .resume_step = 0, .peers = {}};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      listeners_.push_back(listen_on(0).value());
      start_.peers.push_back(
          {"w-" + std::to_string(rank), {"127.0.0.1", local_endpoint(listeners_.back())->port}});
    }
  }

  Result<Ring> connect(std::size_t rank, SchedulerLink& link,
                       std::chrono::milliseconds patience = kPatience) {
    Start start = start_;
    start.rank = rank;
    return Ring::connect({.listener = std::move(listeners_[rank]),
                          .start = std::move(start),
                          .link = link,
                          .patience = patience});
  }

  void run_all(const std::function<void(std::size_t rank, Ring& ring)>& body) {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < start_.peers.size(); ++rank) {
      threads.emplace_back([this, rank, &body] {
        SchedulerLink link;
        auto ring = connect(rank, link);
        ASSERT_TRUE(ring) << ring.error().message;
        body(rank, *ring);
      });
    }
  }

  Start start_;
  std::vector<Descriptor> listeners_;
};

class RingSizesTest : public RingTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(RingSizesTest, EveryRankGetsTheSameSum) {
  constexpr std::size_t kSize = 1'001;
  open(GetParam());
  std::vector<std::vector<double>> values(GetParam());
  run_all([&](std::size_t rank, Ring& ring) {
    for (std::size_t index = 0; index < kSize; ++index) {
      values[rank].push_back(1.0 / static_cast<double>(1 + index + 7 * rank));
    }
    const auto result = ring.sum(0, values[rank]);
    ASSERT_TRUE(result) << result.error().message;
  });
  for (std::size_t index = 0; index < kSize; ++index) {
    double expected = 0;
    for (std::size_t rank = 0; rank < GetParam(); ++rank) {
      expected += 1.0 / static_cast<double>(1 + index + 7 * rank);
    }
    ASSERT_NEAR(values[0][index], expected, 1e-12);
  }
  for (const auto& other : values) {
    EXPECT_EQ(other, values[0]);  // to the last bit
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, RingSizesTest, testing::Values(1, 2, 3, 4, 7));

TEST_F(RingTest, VectorsFarLargerThanSocketBuffersDoNotBlock) {
  constexpr std::size_t kSize = 3'000'000;  // chunks of 8 MB
  open(3);
  run_all([&](std::size_t, Ring& ring) {
    std::vector<double> values(kSize, 1.0);
    const auto result = ring.sum(0, values);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(values.front() + values.back(), 6.0);
  });
}

TEST_F(RingTest, ABarrierHoldsUntilTheLastRankArrives) {
  open(3);
  std::atomic<int> arrived = 0;
  std::latch others_wait(2);
  run_all([&](std::size_t rank, Ring& ring) {
    if (rank == 2) {
      others_wait.wait();
    }
    ++arrived;
    if (rank != 2) {
      others_wait.count_down();
    }
    ASSERT_TRUE(ring.barrier());
    EXPECT_EQ(arrived, 3);
  });
}

TEST_F(RingTest, APeerThatLeavesIsNamed) {
  open(2);
  run_all([&](std::size_t rank, Ring& ring) {
    std::vector<double> values(10);
    if (rank == 0) {
      const auto result = ring.sum(0, values);
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().exit_code, ExitCode::PeerLost);
      EXPECT_TRUE(result.error().message.starts_with("w-1 (rank 1)")) << result.error().message;
    }
  });
}

TEST_F(RingTest, APeerThatFallsSilentIsLost) {
  open(2);
  std::latch given_up(1);
  std::jthread silent([&] {
    SchedulerLink link;
    const auto ring = connect(1, link);
    given_up.wait();
  });
  SchedulerLink link;
  auto ring = connect(0, link, std::chrono::milliseconds(100));
  ASSERT_TRUE(ring) << ring.error().message;
  std::vector<double> values(10);
  const auto result = ring->sum(0, values);
  given_up.count_down();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("nothing moved"), std::string::npos);
}

TEST_F(RingTest, AStepOutOfOrderIsNotMixedIn) {
  open(2);
  run_all([&](std::size_t rank, Ring& ring) {
    std::vector<double> values(10);
    EXPECT_FALSE(ring.sum(rank, values));
  });
}

TEST_F(RingTest, AStrangerIsNotTakenForThePreviousRank) {
  open(2);
  // Both wait in the queue before the right caller does: one that says something else, one that
  // hangs up at once.
  const std::uint16_t port = start_.peers[0].endpoint.port;
  const auto deadline = Clock::now() + kPatience;
  Descriptor stranger = connect_to("127.0.0.1", port, deadline).value();
  std::string wrong_hello(40, 'x');
  EXPECT_EQ(send_some(stranger, wrong_hello).bytes, wrong_hello.size());
  static_cast<void>(connect_to("127.0.0.1", port, deadline).value());

  run_all([&](std::size_t, Ring& ring) {
    std::vector<double> values(10, 1.0);
    ASSERT_TRUE(ring.sum(0, values));
    EXPECT_EQ(values, std::vector<double>(10, 2.0));
  });
}

TEST_F(RingTest, NobodyThereIsALostPeer) {
  open(2);
  listeners_[1].reset();
  SchedulerLink link;
  const auto ring = connect(0, link);
  ASSERT_FALSE(ring);
  EXPECT_EQ(ring.error().exit_code, ExitCode::PeerLost);
  EXPECT_TRUE(ring.error().message.starts_with("w-1 (rank 1)")) << ring.error().message;
}

}  // namespace
}  // namespace muster::trainer
