#include "agent/mpi/server.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/output.h"

namespace muster::agent::mpi {
namespace {

using namespace std::chrono_literals;

// A pod is asked once by each mpirun, and once by who waits for it. One that asks and says nothing
// is gone after 10 s, so strangers can hold all places for so long, and not keep them.
constexpr int kSessionsAtOnce = 256;
// A handshake takes about a millisecond of our processor: at most a tenth of one.
constexpr Duration kBetween = 10ms;
constexpr Duration kBurst = 1s;
constexpr Duration kAfterError = 100ms;
constexpr int kReportsAtOnce = 1024;
constexpr Duration kReportLimit = 5s;

}  // namespace

Server::Server(rt::RealLoop& loop, Reaper& reaper, std::unique_ptr<net::Listener> listener,
               std::unique_ptr<net::Listener> reports, std::vector<std::string> variables)
    : loop_(loop),
      reaper_(reaper),
      listener_(std::move(listener)),
      reports_(std::move(reports)),
      sessions_(loop, kSessionsAtOnce),
      reports_at_once_(loop, kReportsAtOnce),
      variables_(std::move(variables)),
      scope_(loop) {}

Result<std::unique_ptr<Server>> Server::listen(rt::RealLoop& loop, Reaper& reaper,
                                               const Settings& settings,
                                               std::vector<std::string> variables) {
  const auto tls = TRY(net::TlsContext::key_server(*settings.key));
  net::TcpListenOptions options{
      .address = "::", .port = settings.port, .tls = tls, .keep_alive = true};
  auto listener = net::listen_tcp(loop, options);
  if (!listener) {  // a kernel without IPv6
    options.address = "0.0.0.0";
    listener = net::listen_tcp(loop, options);
  }
  if (!listener) return fail(listener.error());
  SystemRng rng;
  auto reports = TRY(net::listen_unix(loop, "@muster-mpi-" + make_uuid(rng)));
  return std::unique_ptr<Server>(
      new Server(loop, reaper, std::move(*listener), std::move(reports), std::move(variables)));
}

Task<void> Server::serve() {
  scope_.spawn(accept_reports());
  [[maybe_unused]] const auto ended = co_await accept_all();
  listener_->close();
  co_await scope_.close();
}

Task<Result<void>> Server::accept_all() {
  // The moment that the next connection may come at without having been saved up for.
  auto next = loop_.monotonic();
  while (true) {
    auto permit = CO_TRY(co_await sessions_.enter());
    auto stream = co_await listener_->accept();
    if (!stream) {
      if (stream.error().code == ErrorCode::Cancelled) co_return fail(stream.error());
      say(fmt::format("a connection was not taken: {}", stream.error().message));
      CO_TRY(co_await rt::sleep_for(loop_, kAfterError));
      continue;
    }
    scope_.spawn(session(std::move(*stream), std::move(permit)));
    const auto now = loop_.monotonic();
    next = std::max(next, now + -kBurst) + kBetween;
    if (next > now) CO_TRY(co_await rt::sleep_for(loop_, next - now));
  }
}

Task<void> Server::session(std::unique_ptr<net::Stream> stream, rt::Gate::Permit permit) {
  const auto held = std::move(permit);
  // Ranks show by this name whose they are; others cannot guess it.
  const auto name = make_uuid(rng_);
  const auto one =
      std::make_shared<Session>(loop_, reaper_, std::move(stream), environment_of(name));
  by_name_.emplace(name, one);
  co_await one->serve();
  by_name_.erase(name);
}

std::vector<std::string> Server::environment_of(const std::string& session) const {
  const auto where = reports_->describe().substr(std::string_view("unix:").size());
  auto variables = variables_;
  variables.push_back(fmt::format("{}={}:{}", kReportVariable, where, session));
  return variables;
}

Task<void> Server::accept_reports() {
  while (true) {
    auto permit = co_await reports_at_once_.enter();
    if (!permit) co_return;
    auto stream = co_await reports_->accept();
    if (!stream) {
      if (!co_await rt::sleep_for(loop_, kAfterError)) co_return;
      continue;
    }
    scope_.spawn(take_report(std::move(*stream), std::move(*permit)));
  }
}

Task<void> Server::take_report(std::unique_ptr<net::Stream> stream, rt::Gate::Permit permit) {
  const auto held = std::move(permit);
  FrameChannel channel(loop_, std::move(stream));
  const auto frame = co_await rt::with_timeout(loop_, kReportLimit, channel.receive());
  if (!frame || frame->type != FrameType::Rank) co_return;
  auto report = decode_report(frame->payload);
  if (!report) co_return;
  const auto found = by_name_.find(report->session);
  if (found == by_name_.end()) co_return;
  const auto number = report->number;
  const auto session = found->second;
  const auto noted =
      co_await rt::with_timeout(loop_, kReportLimit, session->relay(std::move(*report)));
  if (!noted) co_return;
  [[maybe_unused]] const auto answered =
      co_await channel.send(FrameType::Noted, std::to_string(number));
}

}  // namespace muster::agent::mpi
