#include "cluster/reflector.h"

#include <algorithm>

#include "base/strings.h"

namespace muster::cluster {
namespace {

// What a lost event can cost at most. 10,000 pods in pages of 500 are 20 requests, every ten
// minutes.
constexpr Duration kRelistInterval = std::chrono::minutes(10);

}  // namespace

std::uint64_t version_number(const std::string& resource_version) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(parse_int(resource_version).value_or(0), 0));
}

Reflector::Reflector(rt::Loop& loop, Cluster& cluster, const Resource& resource, Selection where,
                     Sink& sink, Rng& rng, Logger log)
    : loop_(loop),
      cluster_(cluster),
      resource_(resource),
      where_(std::move(where)),
      sink_(sink),
      rng_(rng),
      log_(std::move(log)),
      synced_(loop) {}

Task<void> Reflector::run() {
  while (true) {
    Result<void> done;
    if (version_.empty()) {
      done = co_await relist();
    } else {
      done = co_await watch_for_a_while();
    }
    if (done) {
      failures_ = 0;
      continue;
    }
    const Error& error = done.error();
    if (error.code == ErrorCode::Cancelled) co_return;
    if (error.code == ErrorCode::Gone) {
      version_.clear();
      continue;
    }
    // A stream that was cut after it had worked is ordinary: resume at once, once.
    if (failures_ == 0 && error.code == ErrorCode::Unavailable && !version_.empty()) {
      ++failures_;
      continue;
    }
    log_.debug("{}: {}; trying again", resource_.qualified(), error.message);
    const Duration pause =
        std::max<Duration>(next_pause(), error.retry_after.value_or(std::chrono::milliseconds(0)));
    if (!co_await rt::sleep_for(loop_, pause)) co_return;
  }
}

Task<Result<void>> Reflector::relist() {
  ListOptions options{.where = where_};
  std::string version;
  sink_.begin();
  do {
    ListPage page = CO_TRY(co_await cluster_.list(resource_, options));
    sink_.stage(std::move(page.items));
    options.continue_token = std::move(page.continue_token);
    version = std::move(page.resource_version);
  } while (!options.continue_token.empty());
  version_ = std::move(version);
  relist_at_ = loop_.monotonic() +
               std::chrono::duration_cast<Duration>(kRelistInterval * (0.8 + 0.2 * rng_.unit()));
  sink_.commit(version_);
  synced_.set();
  co_return Result<void>{};
}

Task<Result<void>> Reflector::watch_for_a_while() {
  const Duration left = relist_at_ - loop_.monotonic();
  if (left > Duration::zero()) {
    auto ended = co_await rt::with_timeout(loop_, left, watch());
    if (ended || loop_.monotonic() < relist_at_ || ended.error().code == ErrorCode::Cancelled) {
      co_return ended;
    }
  }
  version_.clear();
  co_return Result<void>{};
}

Task<Result<void>> Reflector::watch() {
  const auto stream =
      CO_TRY(co_await cluster_.watch(resource_, {.where = where_, .resource_version = version_}));
  while (true) {
    const WatchEvent event = CO_TRY(co_await stream->next());
    failures_ = 0;
    version_ = api::resource_version_of(*event.object);
    if (event.type != EventType::Bookmark) sink_.apply(event);
  }
}

Duration Reflector::next_pause() {
  const int doublings = std::min(failures_++, 8);
  const Duration longest = std::min<Duration>(std::chrono::milliseconds(100) * (1 << doublings),
                                              std::chrono::seconds(30));
  // Jitter, so that many clients of one server do not come back together.
  return std::chrono::duration_cast<Duration>(longest * (0.5 + 0.5 * rng_.unit()));
}

}  // namespace muster::cluster
