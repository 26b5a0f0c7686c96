#include "agent/mpi/session.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "agent/mpi/processes.h"
#include "agent/output.h"
#include "base/fd.h"
#include "base/strings.h"

namespace muster::agent::mpi {
namespace {

using namespace std::chrono_literals;

// A peer that is one of us does the handshake and asks at once.
constexpr Duration kRequestLimit = 10s;
// For what the command printed last; something that it left behind may keep the pipes open.
constexpr Duration kOutputGrace = 1s;
constexpr Duration kEndGrace = 3s;
constexpr Duration kEndLook = 20ms;
constexpr Duration kGoodbye = 2s;
constexpr std::size_t kMostUnnoted = 4096;  // ranks of one host that tell something at once
constexpr std::size_t kCopyBytes = std::size_t{32} << 10U;

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("pipe");
  Pipe pipe{.read = Fd(ends[0]), .write = Fd(ends[1])};
  if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return fail_errno("fcntl");
  return pipe;
}

template <class T>
Task<T> to_the_end(Task<T> task) {
  return std::move(task).with_stop(std::stop_token());
}

}  // namespace

Session::Session(rt::RealLoop& loop, Reaper& reaper, std::unique_ptr<net::Stream> stream,
                 std::vector<std::string> more_environment)
    : loop_(loop),
      reaper_(reaper),
      channel_(loop, std::move(stream)),
      more_environment_(std::move(more_environment)),
      outputs_ended_(loop),
      peer_gone_(loop),
      over_(loop),
      scope_(loop) {}

Task<void> Session::serve() {
  const auto answered = co_await answer();
  if (child_) co_await to_the_end(end_processes());
  co_await scope_.close();
  if (!answered && answered.error().code != ErrorCode::Cancelled &&
      answered.error().code != ErrorCode::Unavailable) {
    say(fmt::format("a request was not served: {}", answered.error().message));
  }
  channel_.close();
}

Task<Result<void>> Session::answer() {
  auto request = CO_TRY(co_await rt::with_timeout(loop_, kRequestLimit, channel_.receive()));
  if (request.type == FrameType::Ping) {
    CO_TRY(co_await channel_.send(FrameType::Pong, ""));
    co_await channel_.finish(kGoodbye);
    co_return Result<void>{};
  }
  if (request.type != FrameType::Start || request.payload.contains('\0'))
    co_return fail(ErrorCode::Parse, "it is neither a question nor a command");
  co_return co_await start(std::move(request.payload));
}

Task<Result<void>> Session::start(std::string command_line) {
  auto output = CO_TRY(make_pipe());
  auto error = CO_TRY(make_pipe());
  child_ = CO_TRY(Child::spawn(reaper_, {.argv = {"/bin/sh", "-c", std::move(command_line)},
                                         .output = output.write.get(),
                                         .error = error.write.get(),
                                         .placement = Placement::Session,
                                         .more_environment = more_environment_}));
  output.write.close();
  error.write.close();
  output_.emplace(loop_, output.read.release());
  error_.emplace(loop_, error.read.release());
  scope_.spawn(copy(*output_, FrameType::Output));
  scope_.spawn(copy(*error_, FrameType::Error));
  scope_.spawn(watch_peer());
  scope_.spawn(watch_child());
  co_return co_await run();
}

Task<Result<void>> Session::run() {
  CO_TRY(co_await over_.wait());
  if (peer_gone_.is_set()) co_return fail(ErrorCode::Unavailable, "the peer has gone");
  const auto code = CO_TRY(co_await child_->wait());
  [[maybe_unused]] const auto rest =
      co_await rt::with_timeout(loop_, kOutputGrace, outputs_ended_.wait());
  CO_TRY(co_await channel_.send(FrameType::Exit, std::to_string(code)));
  // The peer closes when it has read it.
  [[maybe_unused]] const auto gone = co_await rt::with_timeout(loop_, kGoodbye, peer_gone_.wait());
  co_return Result<void>{};
}

Task<void> Session::copy(rt::Descriptor& from, FrameType type) {
  std::vector<char> buffer(kCopyBytes);
  while (true) {
    const auto count = ::read(from.fd(), buffer.data(), buffer.size());
    if (count > 0) {
      const auto sent =
          co_await channel_.send(type, std::string(buffer.data(), static_cast<std::size_t>(count)));
      if (!sent) break;
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    const bool empty = count < 0 && errno == EAGAIN;
    if (!empty || !co_await from.readable()) break;
  }
  if (--open_outputs_ == 0) outputs_ended_.set();
}

Task<Result<void>> Session::relay(RankReport report) {
  if (peer_gone_.is_set() || unnoted_.size() >= kMostUnnoted)
    co_return fail(ErrorCode::Unavailable, "nobody takes the report");
  report.number = ++last_report_;
  report.session.clear();
  const rt::Pending<void> noted(loop_);
  unnoted_.emplace(report.number, noted);
  auto sent = co_await channel_.send(FrameType::Rank, encode_report(report));
  if (!sent) {
    unnoted_.erase(report.number);
    co_return sent;
  }
  co_return co_await noted;
}

void Session::take_note(std::string_view number) {
  const auto found = unnoted_.find(static_cast<std::uint64_t>(parse_int(number).value_or(0)));
  if (found == unnoted_.end()) return;
  found->second.set({});
  unnoted_.erase(found);
}

// But for notes nothing is expected of it: whatever else comes, and the end of the connection, ends
// the command.
Task<void> Session::watch_peer() {
  while (true) {
    const auto frame = co_await channel_.receive();
    if (frame && frame->type == FrameType::Noted) {
      take_note(frame->payload);
      continue;
    }
    if (!frame && frame.error().code == ErrorCode::Cancelled) co_return;
    break;
  }
  peer_gone_.set();
  for (auto& [number, noted] : std::exchange(unnoted_, {}))
    noted.set(fail(ErrorCode::Unavailable, "the peer has gone"));
  over_.set();
}

Task<void> Session::watch_child() {
  if (co_await child_->wait()) over_.set();
}

// What the command left in its session goes with it; a daemon that made itself a session stays. The
// command's own group is told first: a daemon of Open MPI then ends its ranks, which have left it.
Task<void> Session::end_processes() {
  const auto session = child_->pid();
  const auto latest = loop_.monotonic() + kEndGrace;
  ::kill(-session, SIGTERM);
  while (session_has_processes(session) && loop_.monotonic() < latest) {
    [[maybe_unused]] const auto slept = co_await rt::sleep_for(loop_, kEndLook);
  }
  signal_session(session, SIGKILL);
  [[maybe_unused]] const auto killed = co_await child_->wait();
}

}  // namespace muster::agent::mpi
