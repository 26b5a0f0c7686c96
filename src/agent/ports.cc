#include "agent/ports.h"

#include <fmt/format.h>

#include "agent/output.h"
#include "base/strings.h"
#include "net/stream.h"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;

constexpr Duration kConnectLimit = 2s;
constexpr Duration kPause = 50ms;
constexpr Duration kSilence = 10s;  // what takes longer is said

Task<bool> accepts(rt::RealLoop& loop, rt::Pool& pool, Endpoint endpoint) {
  auto connector = net::tcp_connector(
      loop, pool, {.host = endpoint.first, .port = endpoint.second, .timeout = kConnectLimit});
  const auto stream = co_await connector->connect();
  co_return stream.has_value();
}

std::string list(const std::vector<Endpoint>& endpoints) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> names;
  for (const auto& [address, port] : endpoints) {
    if (names.size() == kShown) {
      names.push_back(fmt::format("and {} more", endpoints.size() - kShown));
      break;
    }
    names.push_back(fmt::format("{}:{}", address, port));
  }
  return join(names, ", ");
}

}  // namespace

Task<Result<void>> wait_for_ports(rt::RealLoop& loop, rt::Pool& pool,
                                  std::vector<Endpoint> endpoints, Duration limit,
                                  std::function<std::optional<Error>()> give_up) {
  const auto begun = loop.monotonic();
  auto next_words = begun + kSilence;
  while (true) {
    std::vector<Endpoint> closed;
    for (auto& endpoint : endpoints) {
      if (const auto error = give_up()) co_return fail(*error);
      const bool open = co_await accepts(loop, pool, endpoint);
      if (!open) closed.push_back(std::move(endpoint));
    }
    if (closed.empty()) co_return Result<void>{};
    endpoints = std::move(closed);
    const auto now = loop.monotonic();
    if (now - begun >= limit) {
      co_return fail(ErrorCode::Timeout,
                     fmt::format("no answer from {} within {} s", list(endpoints),
                                 std::chrono::duration_cast<std::chrono::seconds>(limit).count()));
    }
    if (now >= next_words) {
      say("waiting for " + list(endpoints));
      next_words = now + kSilence;
    }
    CO_TRY(co_await rt::sleep_for(loop, kPause));
  }
}

}  // namespace muster::agent
