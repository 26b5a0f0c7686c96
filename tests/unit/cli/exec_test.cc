#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <deque>
#include <thread>

#include "base/fd.h"
#include "base/strings.h"
#include "cli/terminal/attached_program.h"
#include "rt/scope.h"
#include "rt/wait.h"
#include "standard_streams.h"
#include "words_fixture.h"

// Our standard streams lent to a program elsewhere.
namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A program that does as the test says and remembers what it was told.
class PlayedProgram final : public rt::RemoteProgram {
 public:
  explicit PlayedProgram(rt::Loop& loop) : news_(loop) {}

  Task<Result<Event>> next() override {
    while (events_.empty()) CO_TRY(co_await news_.wait());
    Event event = std::move(events_.front());
    events_.pop_front();
    co_return event;
  }
  Task<Result<void>> write(std::string bytes) override {
    input += bytes;
    if (input.ends_with("end\n")) exits(0);
    co_return Result<void>{};
  }
  Task<Result<void>> end_input() override {
    input_ended = true;
    exits(0);
    co_return Result<void>{};
  }
  Task<Result<void>> resize(rt::WindowSize size) override {
    sizes.push_back(size);
    if (on_resize) on_resize();
    co_return Result<void>{};
  }

  void says(const std::string& text,
            rt::ProgramOutput::Stream stream = rt::ProgramOutput::Stream::Stdout) {
    events_.emplace_back(rt::ProgramOutput{.stream = stream, .bytes = text});
    news_.pulse();
  }
  void exits(int code) {
    events_.emplace_back(rt::ProgramExit{.code = code});
    news_.pulse();
  }

  std::string input;
  bool input_ended = false;
  std::vector<rt::WindowSize> sizes;
  std::function<void()> on_resize;

 private:
  std::deque<Event> events_;
  rt::Event news_;
};

class Attached : public ::testing::Test {
 protected:
  Result<int> attach(AttachOptions options) {
    return loop_.run(attach_program(loop_, program_, options));
  }
  static void type(int into, std::string_view text) {
    EXPECT_EQ(::write(into, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  rt::RealLoop loop_;
  PlayedProgram program_{loop_};
};

TEST_F(Attached, ItsOutputIsOursAndSoIsItsExitCode) {
  Pipe out;
  Pipe err;
  program_.says("a line\n");
  program_.says("trouble\n", rt::ProgramOutput::Stream::Stderr);
  program_.says("no end");
  program_.exits(7);
  Result<int> code;
  {
    const Replaced output(STDOUT_FILENO, out.in.get());
    const Replaced error(STDERR_FILENO, err.in.get());
    code = attach({});
  }
  EXPECT_EQ(code.value_or(-1), 7);
  EXPECT_EQ(out.all(), "a line\nno end");
  EXPECT_EQ(err.all(), "trouble\n");
}

TEST_F(Attached, MoreThanAPipeHoldsIsNotLost) {
  Pipe out;
  ASSERT_EQ(::fcntl(out.in.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string much(std::size_t{300} << 10U, 'x');
  program_.says(much);
  program_.exits(0);
  std::string read;
  std::thread reader([&] {
    std::array<char, 4096> piece{};
    while (read.size() < much.size()) {
      const auto got = ::read(out.out.get(), piece.data(), piece.size());
      if (got <= 0) break;
      read.append(piece.data(), static_cast<std::size_t>(got));
    }
  });
  Result<int> code;
  {
    const Replaced output(STDOUT_FILENO, out.in.get());
    code = attach({});
  }
  reader.join();
  EXPECT_EQ(code.value_or(-1), 0);
  EXPECT_EQ(read, much);
}

TEST_F(Attached, OurInputIsItsInputToTheEnd) {
  Pipe in;
  type(in.in.get(), "one\ntwo\n");
  in.in = Fd();
  const Replaced input(STDIN_FILENO, in.out.get());
  EXPECT_EQ(attach({.input = true}).value_or(-1), 0);
  EXPECT_EQ(program_.input, "one\ntwo\n");
  EXPECT_TRUE(program_.input_ended);
}

TEST_F(Attached, AFileIsInputToo) {
  char path[] = "/tmp/muster-input.XXXXXX";
  const Fd file(::mkstemp(path));
  ::unlink(path);
  type(file.get(), "first\nsecond\n");
  ASSERT_EQ(::lseek(file.get(), 0, SEEK_SET), 0);
  const Replaced input(STDIN_FILENO, file.get());
  EXPECT_EQ(attach({.input = true}).value_or(-1), 0);
  EXPECT_EQ(program_.input, "first\nsecond\n");
}

TEST_F(Attached, WithoutInputNothingIsTakenFromUs) {
  Pipe in;
  type(in.in.get(), "for somebody else\n");
  program_.exits(0);
  {
    const Replaced input(STDIN_FILENO, in.out.get());
    EXPECT_EQ(attach({}).value_or(-1), 0);
  }
  EXPECT_EQ(in.all(), "for somebody else\n");
}

TEST_F(Attached, NobodyReadsAnyMore) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Pipe out;
  out.out = Fd();
  program_.says("lost");
  Result<int> code;
  {
    const Replaced output(STDOUT_FILENO, out.in.get());
    code = attach({});
  }
  static_cast<void>(std::signal(SIGPIPE, before));
  EXPECT_EQ(code.value_or(-1), 128 + SIGPIPE);
}

TEST_F(Attached, ASignalEndsItWithItsCode) {
  const auto tell = [](rt::RealLoop& loop) -> Task<void> {
    static_cast<void>(co_await rt::yield(loop));
    static_cast<void>(std::raise(SIGTERM));
  };
  const rt::Signals survive(loop_, {SIGTERM});
  rt::TaskScope scope(loop_);
  scope.spawn(tell(loop_));
  EXPECT_EQ(attach({}).value_or(-1), 128 + SIGTERM);
  loop_.run(scope.close());
}

class AttachedTerminal : public Attached {
 protected:
  [[nodiscard]] bool is_raw() const {
    termios settings{};
    EXPECT_EQ(::tcgetattr(terminal_.end(), &settings), 0);
    return (settings.c_lflag & (ICANON | ECHO | ISIG)) == 0;
  }
  PseudoTerminal terminal_{80, 24};
};

TEST_F(AttachedTerminal, KeysGoToTheProgramAsTheyAre) {
  ASSERT_FALSE(is_raw());
  bool raw = false;
  program_.on_resize = [&] {
    raw = is_raw();
    type(terminal_.person(), "\x03q\x04 end\n");
  };
  {
    const Replaced input(STDIN_FILENO, terminal_.end());
    EXPECT_EQ(attach({.input = true, .terminal = true}).value_or(-1), 0);
  }
  EXPECT_TRUE(raw) << "while it runs";
  EXPECT_EQ(program_.input, "\x03q\x04 end\n");
  EXPECT_FALSE(is_raw()) << "afterwards";
}

TEST_F(AttachedTerminal, ItKnowsTheWindow) {
  program_.on_resize = [&] {
    if (program_.sizes.size() == 2) return program_.exits(3);
    terminal_.resize(100, 30);
    static_cast<void>(std::raise(SIGWINCH));
  };
  const rt::Signals survive(loop_, {SIGWINCH});
  {
    const Replaced input(STDIN_FILENO, terminal_.end());
    EXPECT_EQ(attach({.terminal = true}).value_or(-1), 3);
  }
  EXPECT_THAT(program_.sizes, ElementsAre(rt::WindowSize{.columns = 80, .rows = 24},
                                          rt::WindowSize{.columns = 100, .rows = 30}));
}

TEST_F(Attached, WhatIsNoTerminalCannotBeOne) {
  Pipe in;
  const Replaced input(STDIN_FILENO, in.out.get());
  const auto refused = attach({.terminal = true});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the terminal's settings"));
}

// The node's side of `exec`: says what it was asked for.
class Programs final : public server::ProgramSource {
 public:
  explicit Programs(rt::Loop& loop) : loop_(loop) {}
  Task<Result<std::unique_ptr<rt::RemoteProgram>>> open(server::ObjectPtr pod,
                                                        server::ExecOptions options) override {
    auto program = std::make_unique<PlayedProgram>(loop_);
    program->says(fmt::format("{} {}: {}\n", api::name_of(*pod), options.container,
                              join(options.command, " ")));
    program->exits(5);
    co_return program;
  }

 private:
  rt::Loop& loop_;
};

class Exec : public WordsTest {
 protected:
  // Its standard output with it; standard input is empty.
  Outcome exec_it(std::vector<std::string> words) {
    core().set_program_source(&programs_);
    const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    Pipe out;
    Outcome seen;
    {
      const Replaced input(STDIN_FILENO, nothing.get());
      const Replaced output(STDOUT_FILENO, out.in.get());
      words.insert(words.begin(), "exec");
      seen = run(words);
    }
    core().set_program_source(nullptr);
    seen.out += out.all();
    return seen;
  }
  // Running, on a node.
  static json::Value placed(json::Value pod) {
    pod["spec"]["nodeName"] = "box";
    return pod;
  }
  Programs programs_{loop()};
};

TEST_F(Exec, RunsAProgramInARankOfAJob) {
  const ToyKind& toy = kind("Toy", "toy.dev");
  create(toy, "bert", json::Object{{"state", "GOING"}});
  for (const int i : {0, 1}) create(api::pods(), placed(rank(toy, "bert", i)));
  const Outcome first = exec_it({"bert", "--", "nvidia-smi", "-L"});
  EXPECT_EQ(first.code, 5) << first.err;
  EXPECT_EQ(first.out, "bert-rank-0 main: nvidia-smi -L\n");
  EXPECT_EQ(exec_it({"bert", "--rank", "1", "--", "ls"}).out, "bert-rank-1 main: ls\n");
  const Outcome absent = exec_it({"bert", "--rank", "7", "--", "ls"});
  EXPECT_EQ(absent.code, exit_code::kFailed);
  EXPECT_THAT(absent.err, HasSubstr("7"));
}

TEST_F(Exec, OrInAPod) {
  create(api::pods(), placed(pod("lone", json::Object{{"running", json::Object{}}})));
  const Outcome seen = exec_it({"pods/lone", "-c", "main", "-t", "--", "sh"});
  EXPECT_EQ(seen.code, 5);
  EXPECT_EQ(seen.out, "lone main: sh\n");
  EXPECT_EQ(seen.err, "standard input is not a terminal: -t is left out\n");
  const Outcome ranked = exec_it({"pods/lone", "--rank", "0", "--", "sh"});
  EXPECT_EQ(ranked.code, exit_code::kFailed);
  EXPECT_EQ(ranked.err, "error: lone is a pod: --role and --rank are for jobs\n");
}

TEST_F(Exec, WhereNothingCanRunIsRefused) {
  const Outcome seen = exec_it({"nodes/box", "--", "sh"});
  EXPECT_EQ(seen.code, exit_code::kUsage);
  EXPECT_THAT(seen.err, HasSubstr("nodes"));
  EXPECT_THAT(seen.out, IsEmpty());
}

}  // namespace
}  // namespace muster::cli
