#include "server/http/watch.h"

#include <algorithm>

#include <fmt/format.h>

#include "json/write.h"
#include "server/http/answer.h"
#include "server/http/options.h"

namespace muster::server {
namespace {

// As long as the real server's: long enough to be rare, different enough not to end together.
constexpr Duration kShortestWatch = std::chrono::minutes(30);
constexpr std::uint64_t kWatchSpreadSeconds = 1'800;
constexpr std::int64_t kLongestWatchSeconds = 86'400;

Duration lifetime_of(std::int64_t asked, Rng& rng) {
  if (asked <= 0) return kShortestWatch + std::chrono::seconds(rng.below(kWatchSpreadSeconds));
  return std::chrono::seconds(std::min(asked, kLongestWatchSeconds));
}

Error too_many(const std::string& client) {
  return {
      .code = ErrorCode::TooManyRequests,
      .message = fmt::format("too many watches of one client ({}): {} are possible, and as many "
                             "as are free; end some, or try again",
                             client, limits::kMaxWatchesPerClient),
      .causes = {},
      .retry_after = std::chrono::seconds(1)};
}

// One watch on the wire.
class Telling {
 public:
  Telling(Core& core, const ApiRequest& request, Watcher& watch, net::Responder& responder)
      : core_(core), request_(request), watch_(watch), responder_(responder) {}

  Task<Result<void>> until(Monotonic end) {
    rt::Loop& loop = core_.loop();
    while (true) {
      const Duration left = end - loop.monotonic();
      Result<WatchEvent> event = fail(ErrorCode::Timeout, "the watch has reached its end");
      if (left > Duration::zero()) event = co_await rt::with_timeout(loop, left, watch_.next());
      if (!event) co_return co_await conclude(event.error());
      CO_TRY(co_await tell(*event));
    }
  }

 private:
  Task<Result<void>> tell(const WatchEvent& event) {
    const Time now = core_.loop().now();
    if (request_.form == Form::Object) {
      SharedTexts::Sending sending(core_.watches().texts, event,
                                   [&] { return show_event(request_, event, false, now); });
      co_return co_await send(sending);
    }
    SharedTexts::Sending sending(core_.watches().texts,
                                 show_event(request_, event, std::exchange(first_, false), now));
    co_return co_await send(sending);
  }

  // Given up when others need the memory, or when what is being sent is so old that history has
  // forgotten it.
  Task<Result<void>> send(SharedTexts::Sending& sending) {
    const std::stop_callback with_us(co_await rt::current_stop(),
                                     [&sending] { sending.stop().request_stop(); });
    const Watcher::Teller teller(watch_, sending.stop());
    auto writing = responder_.write_chunk(sending.text()).with_stop(sending.stop().get_token());
    co_return co_await std::move(writing);
  }

  Task<Result<void>> conclude(const Error& why) {
    if (why.code == ErrorCode::Cancelled) co_return fail(why);
    std::string last;
    if (why.code == ErrorCode::Gone) {
      last = R"({"type":"ERROR","object":)" + json::write(error_status(why, nullptr)) + "}\n";
    } else if (why.code == ErrorCode::Timeout && request_.query().flag("allowWatchBookmarks")) {
      last = show_event(request_, watch_.mark(), false, core_.loop().now());
    }
    CO_TRY(co_await responder_.write_chunk(last));
    co_return co_await responder_.finish();
  }

  Core& core_;
  const ApiRequest& request_;
  Watcher& watch_;
  net::Responder& responder_;
  bool first_ = true;
};

}  // namespace

Task<Result<void>> serve_watch(Core& core, Rng& rng, const std::string& client,
                               const ApiRequest& request, net::Responder& responder) {
  auto options = CO_TRY(read_watch_options(request));
  const auto asked = CO_TRY(request.query().number("timeoutSeconds"));
  const auto seat = core.watches().seats.take(client);
  if (!seat) co_return fail(too_many(client));
  const auto watch = CO_TRY(core.watch(*request.kind, std::move(options)));
  const Monotonic end = core.loop().monotonic() + lifetime_of(asked.value_or(0), rng);
  const auto begun = co_await responder.begin(200, {{"Content-Type", "application/json"},
                                                    {"Cache-Control", "no-cache, private"},
                                                    {"Audit-Id", make_uuid(rng)}});
  if (!begun) co_return Result<void>{};
  Telling telling(core, request, *watch, responder);
  [[maybe_unused]] const auto told = co_await telling.until(end);
  co_return Result<void>{};
}

}  // namespace muster::server
