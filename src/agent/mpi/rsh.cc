#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "agent/ending.h"
#include "agent/mpi/front.h"
#include "agent/mpi/peers.h"
#include "agent/mpi/tally/report.h"
#include "agent/mpi/verbs.h"
#include "agent/output.h"
#include "base/strings.h"
#include "rt/scope.h"

namespace muster::agent::mpi {
namespace {

using namespace std::chrono_literals;

constexpr Duration kWait = 300s;
constexpr Duration kFirstSilence = 2s;  // what takes longer is said
constexpr Duration kSilence = 10s;
constexpr Duration kNoteLimit = 2s;
constexpr Duration kLostGrace = 3s;

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // nobody reads it; the command goes on
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

// Says for whom we wait, not too often.
std::function<void(const Error&)> teller(rt::RealLoop& loop, std::string host) {
  return [&loop, host = std::move(host),
          next = loop.monotonic() + kFirstSilence](const Error& error) mutable {
    if (loop.monotonic() < next) return;
    next = loop.monotonic() + kSilence;
    say(fmt::format("waiting for {}: {}", host, error.message));
  };
}

// What a rank there has to tell goes on up; who told it is answered either way.
Task<Result<void>> take_report(rt::RealLoop& loop, FrameChannel& channel, ReportSink& sink,
                               std::string host, std::string payload) {
  auto report = decode_report(payload);
  if (!report) co_return fail(ErrorCode::Parse, host + ": no report of a rank");
  const auto number = std::to_string(report->number);
  if (report->host.empty()) report->host = host;
  [[maybe_unused]] const auto noted =
      co_await rt::with_timeout(loop, kNoteLimit, sink.note(std::move(*report)));
  co_return co_await channel.send(FrameType::Noted, number);
}

Task<Result<int>> follow(rt::RealLoop& loop, FrameChannel& channel, ReportSink& sink,
                         std::string host) {
  while (true) {
    auto frame = co_await channel.receive();
    if (!frame) {
      // mpirun loses its daemon now, too. It says so better than what it says of an agent's
      // failure.
      CO_TRY(co_await rt::sleep_for(loop, kLostGrace));
      co_return fail(frame.error().in(host));
    }
    if (frame->type == FrameType::Rank)
      CO_TRY(co_await take_report(loop, channel, sink, host, frame->payload));
    if (frame->type == FrameType::Output) write_all(STDOUT_FILENO, frame->payload);
    if (frame->type == FrameType::Error) write_all(STDERR_FILENO, frame->payload);
    if (frame->type != FrameType::Exit) continue;
    const auto code = decode_exit(frame->payload);
    if (!code) co_return fail(ErrorCode::Parse, host + ": no exit code");
    co_return *code;
  }
}

Task<Result<int>> start_there(VerbContext& context, Settings settings, std::string host,
                              std::string line) {
  const auto limit = CO_TRY(read_wait(context.environment, kWait));
  const auto peers = CO_TRY(Peers::create(context.loop, context.pool, std::move(settings)));
  const auto channel = CO_TRY(
      co_await peers->reach(host, {.limit = limit, .on_failure = teller(context.loop, host)}));
  const auto sink = find_sink(context);
  // One that leaves its session cannot be heard of.
  sink->expect(host, !line.contains(" --daemonize"));
  CO_TRY(co_await channel->send(FrameType::Start, std::move(line)));
  co_return co_await follow(context.loop, *channel, *sink, host);
}

Task<void> watch_signals(rt::Signals& signals, Ending& ending) {
  const auto number = co_await signals.next();
  if (number) ending.take(*number);
}

}  // namespace

Task<Result<int>> rsh(VerbContext& context) {
  auto words = context.arguments;
  if (words.size() < 2)
    co_return fail(ErrorCode::BadRequest,
                   "a host and a command are needed; muster-agent rsh --help says more");
  const auto host = words.front();
  words.erase(words.begin());
  auto line = join(words, " ");
  if (line.size() > kMaxPayloadBytes) {
    co_return fail(ErrorCode::TooLarge, fmt::format("a command line of {} bytes; at most {}",
                                                    line.size(), kMaxPayloadBytes));
  }
  if (is_own_name(host, own_hostname(), context.environment.get("MUSTER_MPI_SERVICE")))
    co_return co_await run_in_front(context, {"/bin/sh", "-c", std::move(line)}, {});
  auto settings = CO_TRY(read_settings(context.environment));
  Ending ending;
  rt::Signals signals(context.loop, {SIGTERM, SIGINT, SIGHUP});
  rt::TaskScope scope(context.loop);
  scope.spawn(watch_signals(signals, ending));
  auto started =
      start_there(context, std::move(settings), host, std::move(line)).with_stop(ending.token());
  auto code = co_await std::move(started);
  co_await scope.close();
  if (!code && code.error().code == ErrorCode::Cancelled && ending.signal() != 0)
    co_return 128 + ending.signal();
  co_return code;
}

}  // namespace muster::agent::mpi
