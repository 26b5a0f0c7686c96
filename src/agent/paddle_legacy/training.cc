#include "agent/paddle_legacy/training.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "agent/files.h"
#include "agent/output.h"
#include "agent/paddle_legacy/commands.h"
#include "agent/ports.h"
#include "base/strings.h"

namespace muster::agent::paddle_legacy {
namespace {

using namespace std::chrono_literals;

// Peers copy their data before they start their PServer. A peer that never comes is a pod that
// failed: its successor has another address, so we end and begin anew with it.
constexpr Duration kPortsLimit = 600s;
// Other trainers may still be fetching their last values.
constexpr Duration kServerGrace = 30s;
// For what the trainer printed last; something that it left behind may keep the pipe open.
constexpr Duration kOutputGrace = 2s;

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // a log that cannot be written is no reason to end a training
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

// Waits that must come to their end although the program is being ended.
template <class T>
Task<T> to_the_end(Task<T> task) {
  return std::move(task).with_stop(std::stop_token());
}

}  // namespace

Training::Training(VerbContext& context, Ending& ending, TrainingPlan plan)
    : context_(context),
      ending_(ending),
      plan_(std::move(plan)),
      server_ended_(context.loop),
      output_ended_(context.loop),
      scope_(context.loop) {}

std::string Training::log_path(const char* name) const {
  return fmt::format("{}/node_{}/{}.log", plan_.settings.output(), plan_.id, name);
}

Task<Result<int>> Training::run() {
  CO_TRY(start_server());
  scope_.spawn(watch_server());
  auto code = co_await train();
  co_await to_the_end(stop_server());
  co_await scope_.close();
  co_return code;
}

Result<void> Training::start_server() {
  const auto log = TRY(create_log(log_path("server")));
  const auto words = pserver_command(plan_.settings);
  write_all(log.get(), join(words, " ") + "\n");
  server_ = TRY(Child::spawn(
      context_.reaper,
      {.argv = words, .directory = plan_.directory, .output = log.get(), .error = log.get()}));
  return {};
}

Task<void> Training::watch_server() {
  const auto code = co_await server_->wait();
  if (!code) co_return;
  server_code_ = *code;
  server_ended_.set();
  if (trainer_ != nullptr) trainer_->signal(SIGTERM);
}

std::optional<Error> Training::server_error() const {
  if (!server_code_) return std::nullopt;
  return Error{.code = ErrorCode::Unavailable,
               .message = fmt::format("this pod's PServer ended with code {}; {} says why",
                                      *server_code_, log_path("server"))};
}

Task<void> Training::stop_server() {
  if (!server_code_) {
    server_->signal(ending_.signal() == 0 ? SIGTERM : SIGKILL);
    const auto ended = co_await rt::with_timeout(context_.loop, kServerGrace, server_ended_.wait());
    if (ended) co_return;
  }
  server_->signal(SIGKILL);
  [[maybe_unused]] const auto ended = co_await server_ended_.wait();
}

Result<Child> Training::start_trainer() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("pipe");
  Fd output(ends[0]);
  const Fd input(ends[1]);
  if (::fcntl(output.get(), F_SETFL, O_NONBLOCK) != 0) return fail_errno("fcntl");
  auto log = TRY(create_log(log_path("train")));
  const auto words = trainer_command(plan_.settings, plan_.roster, plan_.id, plan_.options);
  write_all(log.get(), join(words, " ") + "\n");
  auto trainer = TRY(Child::spawn(
      context_.reaper,
      {.argv = words, .directory = plan_.directory, .output = input.get(), .error = input.get()}));
  trainer_output_.emplace(context_.loop, output.release());
  scope_.spawn(copy_output(log.release()));
  return trainer;
}

Task<Result<int>> Training::train() {
  CO_TRY(co_await wait_for_ports(context_.loop, context_.pool,
                                 pserver_endpoints(plan_.settings, plan_.roster), kPortsLimit,
                                 [this] { return server_error(); }));
  auto trainer = CO_TRY(start_trainer());
  trainer_ = &trainer;
  ending_.forward_to([&trainer](int signal) { trainer.signal(signal); });
  if (server_code_) trainer.signal(SIGTERM);
  auto code = co_await to_the_end(trainer.wait());
  trainer_ = nullptr;
  ending_.forward_to({});
  [[maybe_unused]] const auto output =
      co_await to_the_end(rt::with_timeout(context_.loop, kOutputGrace, output_ended_.wait()));
  if (const auto error = server_error(); error && code && *code != 0) co_return fail(*error);
  co_return code;
}

// What the trainer prints goes to its log and is the container's output as well.
Task<void> Training::copy_output(int log) {
  const Fd file(log);
  std::vector<char> buffer(std::size_t{64} << 10U);
  while (true) {
    const auto count = ::read(trainer_output_->fd(), buffer.data(), buffer.size());
    if (count > 0) {
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
      write_all(file.get(), bytes);
      write_all(STDOUT_FILENO, bytes);
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    const bool empty = count < 0 && errno == EAGAIN;
    if (!empty || !co_await trainer_output_->readable()) break;
  }
  output_ended_.set();
}

}  // namespace muster::agent::paddle_legacy
