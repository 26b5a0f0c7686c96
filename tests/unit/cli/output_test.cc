#include "cli/terminal/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

// In a process of its own, whose standard output is that descriptor and whose code is the verb's.
template <class Verb>
[[noreturn]] void end_with(int out, Verb verb) {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  ::dup2(out, STDOUT_FILENO);
  StandardOutput output;
  const int code = verb(output);
  std::exit(output.finish(code));  // NOLINT(concurrency-mt-unsafe)
}

int nobody_reads() {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  return ends[1];
}

TEST(OutputDeathTest, EndsWithTheCodeOfTheVerb) {
  EXPECT_EXIT(end_with(::open("/dev/null", O_WRONLY),
                       [](StandardOutput& output) {
                         output.print("{}\n", "text");
                         output.note("{}\n", "said");
                         return 7;
                       }),
              ::testing::ExitedWithCode(7), "^said\n$");
}

TEST(OutputDeathTest, AFullDeviceIsAnErrorOfItsOwn) {
  EXPECT_EXIT(end_with(::open("/dev/full", O_WRONLY),
                       [](StandardOutput& output) {
                         output.print("{}\n", "text");
                         return 0;
                       }),
              ::testing::ExitedWithCode(1),
              "^error: cannot write to standard output: No space left on device\n$");
}

TEST(OutputDeathTest, AReaderThatWentAwayEndsItAsAnyFilter) {
  EXPECT_EXIT(end_with(nobody_reads(),
                       [](StandardOutput& output) {
                         output.print("{}\n", "text");
                         return 0;
                       }),
              ::testing::KilledBySignal(SIGPIPE), "^$");
}

TEST(OutputDeathTest, AVerbThatGoesOnIsToldOnce) {
  EXPECT_EXIT(end_with(nobody_reads(),
                       [](StandardOutput& output) {
                         output.on_broken([&output] { output.note("broken\n"); });
                         for (int i = 0; i < 3; ++i) {
                           output.print("{}\n", i);
                           output.flush();
                         }
                         return 0;
                       }),
              ::testing::KilledBySignal(SIGPIPE), "^broken\n$");
}

TEST(OutputDeathTest, WhatIsDrawnMakesRoomForText) {
  EXPECT_EXIT(end_with(STDERR_FILENO,
                       [](StandardOutput& output) {
                         output.before_text([&output](Output::Stream stream) {
                           output.draw(stream == Output::Stream::Out ? "<out>" : "<err>");
                         });
                         output.write("one ");
                         output.write("two ");
                         output.note("three ");
                         output.make_room();
                         output.before_text({});
                         output.note("four");
                         return 0;
                       }),
              ::testing::ExitedWithCode(0), "^<out>one two <err>three <err>four$");
}

}  // namespace
}  // namespace muster::cli
