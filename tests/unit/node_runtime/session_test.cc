#include <sys/wait.h>

#include <filesystem>

#include <fmt/format.h>

#include "machine.h"

namespace muster::node {
namespace {

using namespace std::chrono_literals;

// Programs in a container of pod "a", with their streams here.
class SessionTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    open_runtime();
    pod("a");
    auto spec = container({"sh", "-c", "echo up; sleep 1000"});
    spec.env.emplace_back("NAME", "value");
    spec.cwd = "/usr";
    start("a", spec);
    ASSERT_TRUE(await_output("a", "up"));
  }
  void TearDown() override {
    if (runtime_) remove("a");
    // A runtime that adopted the shim does not know that it is a child of ours.
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    RuntimeTest::TearDown();
  }

  std::unique_ptr<rt::RemoteProgram> open(std::string script, bool terminal = false) {
    auto program = run(runtime_->open_session("a", {.container = "main",
                                                    .argv = {"sh", "-c", std::move(script)},
                                                    .terminal = terminal,
                                                    .input = true,
                                                    .output = true,
                                                    .error = !terminal}));
    EXPECT_TRUE(program) << program.error().message;
    return program ? std::move(*program) : nullptr;
  }

  // Reads until the output has the text, or the program's end.
  static Task<Result<void>> read_until(rt::RemoteProgram& program, std::string text,
                                       std::string& output, int& code) {
    while (text.empty() || !output.contains(text)) {
      const auto event = CO_TRY(co_await program.next());
      if (const auto* exit = std::get_if<rt::ProgramExit>(&event)) {
        code = exit->code;
        break;
      }
      const auto& piece = std::get<rt::ProgramOutput>(event);
      const bool to_error = piece.stream == rt::ProgramOutput::Stream::Stderr;
      output += to_error ? "[" + piece.bytes + "]" : piece.bytes;
    }
    co_return Result<void>{};
  }
  std::string read(rt::RemoteProgram& program, std::string until) {
    std::string output;
    const auto done =
        run(rt::with_timeout(*loop_, 20s, read_until(program, std::move(until), output, code_)));
    EXPECT_TRUE(done) << done.error().message << " after " << output;
    return output;
  }
  std::string rest(rt::RemoteProgram& program) { return read(program, ""); }

  // Whether some process of the machine has that in its command line.
  static bool runs(const std::string& mark) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      if (read_text(entry.path().string() + "/cmdline").contains(mark)) return true;
    }
    return false;
  }
  void await_end_of(const std::string& mark) {
    for (int i = 0; i < 1000 && runs(mark); ++i) run(rt::sleep_for(*loop_, 10ms));
    EXPECT_FALSE(runs(mark)) << mark;
  }

  int code_ = -1;
};

TEST_F(SessionTest, HasTheContainersEnvironmentAndTellsBothOutputsAndTheExitCode) {
  const auto program = open("echo $NAME; pwd; echo no >&2; exit 3");
  const auto output = rest(*program);
  EXPECT_TRUE(output.contains("value\n/usr\n")) << output;
  EXPECT_TRUE(output.contains("[no\n]")) << output;
  EXPECT_EQ(code_, 3);
}

TEST_F(SessionTest, ReadsItsInputToTheEnd) {
  const auto program = open("wc -c; echo done");
  std::string bytes(300'000, 'x');  // more than pipes hold
  EXPECT_TRUE(run(program->write(bytes)));
  EXPECT_TRUE(run(program->end_input()));
  EXPECT_EQ(rest(*program), "300000\ndone\n");
  EXPECT_EQ(code_, 0);
}

TEST_F(SessionTest, ASignalIsAnExitCode) {
  const auto program = open("kill -9 $$");
  EXPECT_EQ(rest(*program), "");
  EXPECT_EQ(code_, 137);
}

TEST_F(SessionTest, WhatCannotBeExecutedSaysSo) {
  auto program = run(runtime_->open_session(
      "a", {.container = "main", .argv = {"no-such"}, .output = true, .error = true}));
  EXPECT_EQ(rest(**program), "[exec: \"no-such\": executable file not found in $PATH\n]");
  EXPECT_EQ(code_, 127);
  EXPECT_EQ(run(runtime_->open_session("a", {.container = "other", .argv = {"true"}})).error().code,
            ErrorCode::NotFound);
}

TEST_F(SessionTest, ATerminalHasASizeAndIsTheControllingOne) {
  const auto program = open(
      "trap 'stty size' WINCH; tty; test -t 0 -a -t 1 -a -t 2 && : > /dev/tty && echo controls; "
      "echo $TERM; while :; do read line && break; done; echo got $line",
      true);
  auto output = read(*program, "xterm");
  EXPECT_TRUE(output.contains("/dev/pts/")) << output;
  EXPECT_TRUE(output.contains("controls")) << output;
  EXPECT_TRUE(run(program->resize({.columns = 123, .rows = 45})));
  EXPECT_TRUE(read(*program, "45 123").contains("45 123"));
  EXPECT_TRUE(run(program->write("word\n")));
  EXPECT_TRUE(rest(*program).contains("got word"));
  EXPECT_EQ(code_, 0);
}

TEST_F(SessionTest, AProgramStartsWithTheSizeThatIsToldJustAfterItWasAskedFor) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    const auto asked = std::chrono::steady_clock::now();
    const auto program = open("stty size", true);
    // Asked for later and over already: so could this one be, if it did not wait.
    for (int i = 0; i < 3; ++i) rest(*open("stty --version"));
    EXPECT_TRUE(run(program->resize({.columns = 123, .rows = 45})));
    const auto seen = rest(*program);
    // It may have been right not to wait any longer.
    if (std::chrono::steady_clock::now() - asked > 450ms) continue;
    EXPECT_TRUE(seen.contains("45 123")) << seen;
    return;
  }
  ADD_FAILURE() << "the size did not let it start: it was never over within 450 ms";
}

TEST_F(SessionTest, ControlCReachesTheProgramInTheForeground) {
  const auto program = open("cat; echo code $?", true);
  EXPECT_TRUE(run(program->write("line\n")));
  read(*program,
       "line\r\nline");  // the echo, and then cat: a shell that just starts it loses signals
  EXPECT_TRUE(run(program->write("\x03")));
  rest(*program);
  EXPECT_EQ(code_, 130);
}

TEST_F(SessionTest, TheEndOfInputEndsWhatReadsLinesFromATerminal) {
  const auto program = open("cat; echo over", true);
  EXPECT_TRUE(run(program->write("one\n")));
  EXPECT_TRUE(run(program->end_input()));
  EXPECT_TRUE(rest(*program).contains("over"));
}

TEST_F(SessionTest, EndsWithWhoeverAskedForItThoughItDoesNotWantTo) {
  for (const bool terminal : {false, true}) {
    const auto mark = fmt::format("4711{}", terminal ? 1 : 2);
    auto program =
        open(fmt::format("trap '' HUP; echo up; sleep {}; sleep {}", mark, mark), terminal);
    read(*program, "up");
    EXPECT_TRUE(runs(mark));
    program.reset();
    await_end_of(mark);
  }
}

TEST_F(SessionTest, WhatItLeftInTheBackgroundStays) {
  const auto program = open("sleep 48112 & echo left");
  EXPECT_EQ(rest(*program), "left\n");
  EXPECT_EQ(code_, 0);
  EXPECT_TRUE(runs("48112"));
}

TEST_F(SessionTest, EndsWithItsContainer) {
  const auto program = open("echo up; sleep 1000");
  EXPECT_EQ(read(*program, "up"), "up\n");
  EXPECT_TRUE(run(runtime_->kill_container("a", "main", 0)));
  EXPECT_EQ(rest(*program), "");
  EXPECT_EQ(code_, 137);
}

TEST_F(SessionTest, EndsWhenMusterDoes) {
  const auto mark = std::string("4913");
  auto program = open("echo up; sleep " + mark);
  read(*program, "up");
  run(runtime_->close());
  program.reset();  // its connection goes with the process, before the loop that it lives on
  close_runtime();
  open_runtime();
  EXPECT_TRUE(run(runtime_->adopt()).value().front().alive);
  await_end_of(mark);
}

TEST_F(SessionTest, AClientThatDoesNotReadHoldsUpItsProgramAndNobodyElse) {
  const auto flood = open("yes");
  const auto other = open("echo here");
  EXPECT_EQ(rest(*other), "here\n");
}

TEST_F(SessionTest, APodHasSoManySessionsAndNoMore) {
  std::vector<std::unique_ptr<rt::RemoteProgram>> programs;
  for (int i = 0; i < 64; ++i) programs.push_back(open("sleep 1000"));
  const auto more =
      run(runtime_->open_session("a", {.container = "main", .argv = {"true"}, .output = true}));
  EXPECT_EQ(more.error().code, ErrorCode::TooManyRequests);
  // One that ended makes room.
  EXPECT_TRUE(run(programs.back()->end_input()));
  programs.pop_back();
  for (int i = 0; i < 1000; ++i) {
    auto again =
        run(runtime_->open_session("a", {.container = "main", .argv = {"true"}, .output = true}));
    if (again) {
      EXPECT_EQ(rest(**again), "");
      return;
    }
    run(rt::sleep_for(*loop_, 10ms));
  }
  FAIL() << "no room after the end of a session";
}

}  // namespace
}  // namespace muster::node
