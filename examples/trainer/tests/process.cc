#include "trainer/tests/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace muster::trainer {
namespace {

// Far beyond what anything here takes, sanitizers and a busy machine included; only a hang gets
// there.
constexpr auto kHang = std::chrono::seconds(100);

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

std::optional<std::string> find_line(const std::string& output, std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t end = output.find('\n'); end != std::string::npos;
       end = output.find('\n', begin)) {
    const std::string line = output.substr(begin, end - begin);
    if (line.find(text) != std::string::npos) {
      return line;
    }
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Process> Process::start(const std::vector<std::string>& arguments,
                                        const std::map<std::string, std::string>& environment) {
  std::array<int, 2> ends = {-1, -1};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);

  std::vector<std::string> words = {MUSTER_TRAINER};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + value);
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.number(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.number(), STDERR_FILENO);
  pid_t id = -1;
  EXPECT_EQ(::posix_spawn(&id, MUSTER_TRAINER, &actions, nullptr, pointers(words).data(),
                          pointers(variables).data()),
            0);
  ::posix_spawn_file_actions_destroy(&actions);
  return std::unique_ptr<Process>(new Process(id, std::move(read_end)));
}

Process::Process(pid_t id, Descriptor output)
    : id_(id), pipe_(std::move(output)), reader_([this] { read_output(); }) {}

Process::~Process() {
  if (!is_reaped_) {
    signal(SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
}

std::string Process::wait_for_line(std::string_view text) {
  std::unique_lock lock(mutex_);
  std::optional<std::string> line;
  changed_.wait_for(lock, kHang, [&] {
    line = find_line(output_, text);
    return line || has_ended_;
  });
  EXPECT_TRUE(line) << "no line with '" << text << "' in:\n" << output_;
  return line.value_or("");
}

int Process::wait() {
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kHang, [&] { return has_ended_; })) {
      ADD_FAILURE() << "still running:\n" << output_;
      signal(SIGKILL);
    }
  }
  int status = 0;
  EXPECT_EQ(::waitpid(id_, &status, 0), id_);
  is_reaped_ = true;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void Process::signal(int number) const {
  ::kill(id_, number);
}

std::string Process::output() {
  const std::lock_guard lock(mutex_);
  return output_;
}

void Process::read_output() {
  std::array<char, 4'096> buffer;
  while (true) {
    const ssize_t got = ::read(pipe_.number(), buffer.data(), buffer.size());
    const std::lock_guard lock(mutex_);
    if (got > 0) {
      output_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    has_ended_ = got <= 0;
    changed_.notify_all();
    if (has_ended_) {
      return;
    }
  }
}

}  // namespace muster::trainer
