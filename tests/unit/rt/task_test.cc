#include "rt/task.h"

#include <functional>

#include <gtest/gtest.h>

#include "rt/loop_work.h"
#include "rt/pool.h"
#include "rt/real_loop.h"
#include "rt/scope.h"
#include "rt/sim_loop.h"

namespace muster::rt {
namespace {

using namespace std::chrono_literals;

Task<Result<int>> half(int number) {
  if (number % 2 != 0) co_return fail(ErrorCode::Invalid, "odd");
  co_return number / 2;
}

Task<Result<std::string>> quarter(int number) {
  const std::string prefix = "quarter ";
  co_return prefix + std::to_string(CO_TRY(co_await half(CO_TRY(co_await half(number)))));
}

TEST(Task, PassesValuesAndErrorsToTheAwaiter) {
  SimLoop loop{Time{}};
  EXPECT_EQ(loop.run(quarter(8)).value(), "quarter 2");
  EXPECT_EQ(loop.run(quarter(6)).error().message, "odd");
}

Task<void> note_after(Loop& loop, Duration delay, std::string text,
                      std::vector<std::string>& notes) {
  const auto slept = co_await sleep_for(loop, delay);
  notes.push_back(slept ? text : text + " cancelled");
}

TEST(SimLoop, RunsTimersInOrderWithoutWaiting) {
  SimLoop loop{Time{}};
  std::vector<std::string> notes;
  TaskScope scope(loop);
  scope.spawn(note_after(loop, 2h, "second", notes));
  scope.spawn(note_after(loop, 1h, "first", notes));
  loop.run(scope.join());
  EXPECT_EQ(notes, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(loop.monotonic().since_start, 2h);
}

TEST(TaskScope, CloseCancelsAndJoins) {
  SimLoop loop{Time{}};
  std::vector<std::string> notes;
  TaskScope scope(loop);
  scope.spawn(note_after(loop, 1h, "never", notes));
  loop.drain();
  loop.run(scope.close());
  EXPECT_EQ(notes, std::vector<std::string>{"never cancelled"});
  EXPECT_EQ(loop.timers(), 0U);
}

Task<Result<int>> slow(Loop& loop) {
  CO_TRY(co_await sleep_for(loop, 10s));
  co_return 7;
}

TEST(WithTimeout, GivesTimeoutAndEndsTheTask) {
  SimLoop loop{Time{}};
  EXPECT_EQ(loop.run(with_timeout(loop, 1s, slow(loop))).error().code, ErrorCode::Timeout);
  EXPECT_EQ(loop.run(with_timeout(loop, 11s, slow(loop))).value(), 7);
  EXPECT_EQ(loop.timers(), 0U);
}

Task<void> consume(Channel<int>& channel, std::vector<int>& taken, std::string& end) {
  while (true) {
    auto value = co_await channel.pop();
    if (!value) {
      end = value.error().message;
      co_return;
    }
    taken.push_back(*value);
  }
}

TEST(Channel, GivesWhatWasQueuedBeforeTheCloseAndRefusesMoreThanItHolds) {
  SimLoop loop{Time{}};
  Channel<int> channel(loop, 2);
  EXPECT_TRUE(channel.push(1));
  EXPECT_TRUE(channel.push(2));
  EXPECT_FALSE(channel.push(3));
  channel.close({.code = ErrorCode::Gone, .message = "over"});
  std::vector<int> taken;
  std::string end;
  loop.run(consume(channel, taken, end));
  EXPECT_EQ(taken, (std::vector<int>{1, 2}));
  EXPECT_EQ(end, "over");
}

Task<void> pass(Loop& loop, Gate& gate, int& inside, int& most) {
  const auto permit = co_await gate.enter();
  if (!permit) co_return;
  most = std::max(most, ++inside);
  [[maybe_unused]] const auto slept = co_await sleep_for(loop, 1s);
  --inside;
}

TEST(Gate, LetsOnlySoManyThroughAtATime) {
  SimLoop loop{Time{}};
  Gate gate(loop, 3);
  int inside = 0;
  int most = 0;
  TaskScope scope(loop);
  for (int i = 0; i < 10; ++i) scope.spawn(pass(loop, gate, inside, most));
  loop.run(scope.join());
  EXPECT_EQ(most, 3);
  EXPECT_EQ(gate.free(), 3);
  EXPECT_EQ(loop.monotonic().since_start, 4s);
}

TEST(Pool, BringsValuesBackToTheLoop) {
  RealLoop loop;
  Pool pool(2);
  EXPECT_EQ(loop.run(pool.run(loop, [] { return 6 * 7; })).value(), 42);
}

TEST(RealLoop, RunsTimersAndDescriptors) {
  RealLoop loop;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Descriptor reader(loop, ends[0]);
  Timer timer(loop, 1ms, [&] { [[maybe_unused]] const auto n = ::write(ends[1], "x", 1); });
  EXPECT_TRUE(loop.run(with_timeout(loop, 10s, reader.readable())).has_value());
  char byte = 0;
  EXPECT_EQ(::read(reader.fd(), &byte, 1), 1);
  EXPECT_EQ(loop.run(with_timeout(loop, 1ms, reader.readable())).error().code, ErrorCode::Timeout);
  ::close(ends[1]);
}

Task<void> burn(Loop& loop, Duration duration) {
  const Monotonic until = loop.monotonic() + duration;
  while (loop.monotonic() < until) {
  }
  co_return;
}

// Whether what a machine may disturb is seen once. One that has too much to do stops us in the
// middle of a callback at times, which is a stall like any other, but not every time.
bool seen_once(const std::function<bool()>& look) {
  for (int i = 0; i < 100; ++i) {
    if (look()) return true;
  }
  return false;
}

TEST(RealLoop, KnowsHowLongOneCallbackKeptTheOthersWaiting) {
  RealLoop loop;
  EXPECT_EQ(loop.longest_stall(), 0ns);
  loop.run(burn(loop, 20ms));
  EXPECT_GE(loop.longest_stall(), 20ms);
  EXPECT_GE(loop.take_recent_stall(), 20ms);
  EXPECT_EQ(loop.take_recent_stall(), 0ns);
  EXPECT_TRUE(seen_once([&] {
    EXPECT_TRUE(loop.run(sleep_for(loop, 50ms)).has_value());
    return loop.take_recent_stall() < 50ms;
  })) << "waiting is no stall";
  EXPECT_GE(loop.longest_stall(), 20ms);
}

TEST(LoopWork, AStallIsLongerThanPeopleNotice) {
  LoopWork work;
  work.count(20ms);
  work.count(kStall);
  EXPECT_EQ(work.stalls, 0U);
  work.count(kStall + 1ns);
  EXPECT_EQ(work.stalls, 1U);
  EXPECT_EQ(work.callbacks, 3U);
  EXPECT_EQ(work.busy, 20ms + 2 * kStall + 1ns);
}

TEST(RealLoop, KnowsItsWorkAndWhichOfItWasAStall) {
  RealLoop loop;
  loop.run(burn(loop, 20ms));
  EXPECT_GE(work_of(loop).busy, 20ms);
  LoopWork before = work_of(loop);
  loop.run(burn(loop, kStall + 10ms));
  EXPECT_GT(work_of(loop).stalls, before.stalls);
  EXPECT_GE(work_of(loop).busy - before.busy, kStall + 10ms);
  EXPECT_TRUE(seen_once([&] {
    before = work_of(loop);
    EXPECT_TRUE(loop.run(sleep_for(loop, kStall + 50ms)).has_value());
    const LoopWork after = work_of(loop);
    EXPECT_GT(after.callbacks, before.callbacks);
    return after.stalls == before.stalls && after.busy - before.busy < kStall;
  })) << "waiting is no work";
}

}  // namespace
}  // namespace muster::rt
