#include "agent/mpi/peers.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/resolver.h"

namespace muster::agent::mpi {
namespace {

using namespace std::chrono_literals;

constexpr int kAtOnce = 32;  // lookups and handshakes
constexpr Duration kConnectLimit = 5s;
constexpr Duration kFirstPause = 50ms;
constexpr Duration kLongestPause = 1s;
constexpr Duration kRefusedLimit = 30s;

Error given_up(const std::string& host, const Error& last, Duration after) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(after).count();
  return {.code = ErrorCode::Timeout,
          .message = fmt::format("{} did not answer within {} s: {}", host, seconds, last.message)};
}

}  // namespace

Peers::Peers(rt::RealLoop& loop, rt::Pool& pool, Settings settings, net::TlsContext tls)
    : loop_(loop),
      pool_(pool),
      settings_(std::move(settings)),
      tls_(std::move(tls)),
      at_once_(loop, kAtOnce) {}

Result<std::unique_ptr<Peers>> Peers::create(rt::RealLoop& loop, rt::Pool& pool,
                                             Settings settings) {
  auto tls = TRY(net::TlsContext::key_client(settings.key));
  return std::unique_ptr<Peers>(new Peers(loop, pool, std::move(settings), std::move(tls)));
}

Task<Result<std::unique_ptr<FrameChannel>>> Peers::attempt(std::string host) {
  const auto permit = CO_TRY(co_await at_once_.enter());
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
    if (stream) co_return std::make_unique<FrameChannel>(loop_, std::move(*stream));
    last = stream.error();
    if (last.code == ErrorCode::Cancelled) break;
  }
  co_return fail(last);
}

Task<Result<std::unique_ptr<FrameChannel>>> Peers::reach(std::string host, Patience patience) {
  const auto begun = loop_.monotonic();
  std::optional<Monotonic> refused_since;
  for (Duration pause = kFirstPause;; pause = std::min(pause * 3 / 2, kLongestPause)) {
    auto channel = co_await attempt(host);
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
    if (patience.limit > Duration::zero() && now - begun >= patience.limit)
      co_return fail(given_up(host, error, now - begun));
    CO_TRY(co_await rt::sleep_for(loop_, pause));
  }
}

}  // namespace muster::agent::mpi
