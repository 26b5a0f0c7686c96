#include "agent/mpi/peers.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "agent/resolver.h"

namespace muster::agent::mpi {
namespace {

using namespace std::chrono_literals;

constexpr int kAtOnce = 32;  // lookups and handshakes
constexpr Duration kConnectLimit = 5s;
constexpr Duration kAnswerLimit = 10s;
constexpr Duration kFirstPause = 50ms;
constexpr Duration kLongestPause = 1s;
constexpr Duration kRefusedLimit = 30s;

std::int64_t in_seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

// Whoever serves ssh says so first (RFC 4253, 4.2).
Task<Result<void>> read_banner(net::Stream& stream) {
  constexpr std::string_view kBanner = "SSH-";
  std::array<char, 256> buffer{};
  const auto count = CO_TRY(co_await stream.read(buffer));
  if (!std::string_view(buffer.data(), count).starts_with(kBanner))
    co_return fail(ErrorCode::Unavailable, "what listens there is not sshd");
  co_return Result<void>{};
}

}  // namespace

Peers::Peers(rt::RealLoop& loop, rt::Pool& pool, Settings settings,
             std::optional<net::TlsContext> tls)
    : loop_(loop),
      pool_(pool),
      settings_(std::move(settings)),
      tls_(std::move(tls)),
      at_once_(loop, kAtOnce) {}

Result<std::unique_ptr<Peers>> Peers::create(rt::RealLoop& loop, rt::Pool& pool,
                                             Settings settings) {
  std::optional<net::TlsContext> tls;
  if (settings.key) tls = TRY(net::TlsContext::key_client(*settings.key));
  return std::unique_ptr<Peers>(new Peers(loop, pool, std::move(settings), std::move(tls)));
}

Task<Result<std::unique_ptr<net::Stream>>> Peers::connect(std::string host) {
  const auto name = full_name(host, settings_.service);
  const auto addresses =
      CO_TRY(CO_TRY(co_await pool_.run(loop_, [name] { return resolve(name); })));
  Error last;
  for (const auto& address : addresses) {
    auto connector = net::tcp_connector(loop_, pool_,
                                        {.host = address,
                                         .port = settings_.port,
                                         .tls = tls_,
                                         .timeout = kConnectLimit,
                                         .keep_alive = true});
    auto stream = co_await connector->connect();
    if (stream) co_return stream;
    last = stream.error();
    if (last.code == ErrorCode::Cancelled) break;
  }
  co_return fail(last);
}

Task<Result<std::unique_ptr<FrameChannel>>> Peers::attempt(std::string host) {
  const auto permit = CO_TRY(co_await at_once_.enter());
  co_return std::make_unique<FrameChannel>(loop_, CO_TRY(co_await connect(std::move(host))));
}

Task<Result<std::unique_ptr<FrameChannel>>> Peers::ask(std::string host) {
  const auto permit = CO_TRY(co_await at_once_.enter());
  auto stream = CO_TRY(co_await connect(std::move(host)));
  if (!tls_) {
    CO_TRY(co_await rt::with_timeout(loop_, kAnswerLimit, read_banner(*stream)));
    co_return std::make_unique<FrameChannel>(loop_, std::move(stream));
  }
  auto channel = std::make_unique<FrameChannel>(loop_, std::move(stream));
  CO_TRY(co_await channel->send(FrameType::Ping, ""));
  const auto answer = CO_TRY(co_await rt::with_timeout(loop_, kAnswerLimit, channel->receive()));
  if (answer.type != FrameType::Pong)
    co_return fail(ErrorCode::Unavailable, "it gave an unexpected answer");
  co_return channel;
}

Task<Result<std::unique_ptr<FrameChannel>>> Peers::repeat(
    Task<Result<std::unique_ptr<FrameChannel>>> (Peers::*attempt)(std::string), std::string host,
    Patience patience) {
  const auto begun = loop_.monotonic();
  std::optional<Monotonic> refused_since;
  for (Duration pause = kFirstPause;; pause = std::min(pause * 3 / 2, kLongestPause)) {
    auto channel = co_await (this->*attempt)(host);
    if (channel || channel.error().code == ErrorCode::Cancelled) co_return channel;
    const auto& error = channel.error();
    if (patience.on_failure) patience.on_failure(error);
    const auto now = loop_.monotonic();
    if (error.code != ErrorCode::Unauthorized) {
      refused_since.reset();
    } else if (!refused_since) {
      refused_since = now;
    } else if (now - *refused_since >= kRefusedLimit) {
      co_return fail(ErrorCode::Unauthorized,
                     fmt::format("{} does not have the key of this job", host));
    }
    if (patience.limit > Duration::zero() && now - begun >= patience.limit) {
      co_return fail(ErrorCode::Timeout, fmt::format("{} did not answer within {} s: {}", host,
                                                     in_seconds(now - begun), error.message));
    }
    CO_TRY(co_await rt::sleep_for(loop_, pause));
  }
}

Task<Result<std::unique_ptr<FrameChannel>>> Peers::reach(std::string host, Patience patience) {
  return repeat(&Peers::attempt, std::move(host), std::move(patience));
}

Task<Result<void>> Peers::wait_for_answer(std::string host, Patience patience) {
  const auto answered = co_await repeat(&Peers::ask, std::move(host), std::move(patience));
  if (!answered) co_return fail(answered.error());
  co_return Result<void>{};
}

}  // namespace muster::agent::mpi
