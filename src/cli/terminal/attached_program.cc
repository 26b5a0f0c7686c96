#include "cli/terminal/attached_program.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stop_token>

#include "cli/terminal/raw_terminal.h"
#include "cli/terminal/standard_input.h"
#include "rt/scope.h"

namespace muster::cli {
namespace {

constexpr int kSignalled = 128;

Result<void> print(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd wait{.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return fail_errno("standard output");
    }
  }
  return {};
}

class Attachment {
 public:
  Attachment(rt::RealLoop& loop, rt::RemoteProgram& program) : loop_(loop), program_(program) {}

  // What we cannot read, or the program will not take, is no reason to end it.
  Task<void> carry_input() {
    StandardInput input(loop_);
    while (true) {
      auto bytes = co_await input.next();
      if (!bytes || !*bytes) break;
      if (!co_await program_.write(std::move(**bytes))) co_return;
    }
    [[maybe_unused]] const auto told = co_await program_.end_input();
  }

  Task<void> carry_size() {
    rt::Signals changes(loop_, {SIGWINCH});
    while (true) {
      if (const auto size = window_size(STDIN_FILENO)) {
        if (!co_await program_.resize(*size)) co_return;
      }
      if (!co_await changes.next()) co_return;
    }
  }

  Task<void> end_on_signal() {
    rt::Signals signals(loop_, {SIGINT, SIGTERM, SIGHUP, SIGQUIT});
    const auto signal = co_await signals.next();
    if (!signal) co_return;
    ended_ = kSignalled + *signal;
    stop_.request_stop();
  }

  Task<Result<int>> carry_output() {
    while (true) {
      auto event = co_await program_.next();
      if (!event && ended_) co_return *ended_;
      if (!event) co_return fail(event.error());
      if (const auto* exit = std::get_if<rt::ProgramExit>(&*event)) co_return exit->code;
      const auto& output = std::get<rt::ProgramOutput>(*event);
      const bool to_output = output.stream == rt::ProgramOutput::Stream::Stdout;
      // Nobody reads it any more: we end as a filter does.
      if (!print(to_output ? STDOUT_FILENO : STDERR_FILENO, output.bytes))
        co_return kSignalled + SIGPIPE;
    }
  }

  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

 private:
  rt::RealLoop& loop_;
  rt::RemoteProgram& program_;
  std::stop_source stop_;
  std::optional<int> ended_;
};

}  // namespace

Task<Result<int>> attach_program(rt::RealLoop& loop, rt::RemoteProgram& program,
                                 AttachOptions options) {
  std::optional<RawTerminal> raw;
  if (options.terminal) raw.emplace(CO_TRY(RawTerminal::enter(STDIN_FILENO)));
  Attachment attachment(loop, program);
  rt::TaskScope scope(loop);
  scope.spawn(attachment.end_on_signal());
  if (options.terminal) scope.spawn(attachment.carry_size());
  if (options.input) scope.spawn(attachment.carry_input());
  auto output = attachment.carry_output().with_stop(attachment.stop());
  const auto code = co_await std::move(output);
  co_await scope.close();
  co_return code;
}

}  // namespace muster::cli
