#include "cluster/reflector.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/strings.h"

namespace muster::cluster {
namespace {

// What a lost event can cost at most. 10,000 pods in pages of 250 are 40 requests, every ten
// minutes.
constexpr Duration kRelistInterval = std::chrono::minutes(10);

constexpr Duration kLongestPause = std::chrono::seconds(30);
// A kind that the server does not know yet: somebody is about to apply its CRD.
constexpr Duration kLongestPauseForAbsent = std::chrono::seconds(5);

// 250 pods of 5 kB are 1.2 MB of text and some 8 MB as a tree, for a moment; 20,000 are 80
// requests.
constexpr int kMostInAPage = 250;

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
      synced_(loop),
      news_(loop),
      page_limit_(kMostInAPage) {}

Task<void> Reflector::run() {
  while (true) {
    Result<void> done;
    const bool listing = version_.empty();
    if (listing) {
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
    // Too old, or the kind itself is gone: only a list can tell.
    if (error.code == ErrorCode::Gone || error.code == ErrorCode::NotFound) version_.clear();
    if (error.code == ErrorCode::Gone && !listing) continue;
    // A stream that was cut after it had worked is ordinary: resume at once, once.
    if (failures_ == 0 && error.code == ErrorCode::Unavailable && !listing) {
      ++failures_;
      continue;
    }
    complain(listing ? "listing" : "watching", error);
    if (!co_await rt::sleep_for(loop_, next_pause(error))) co_return;
  }
}

Task<Result<void>> Reflector::relist() {
  ListOptions options{.where = where_};
  std::string version;
  page_limit_.grow();
  sink_.begin();
  do {
    ListPage page = CO_TRY(co_await list_page(options));
    sink_.stage(std::move(page.items));
    options.continue_token = std::move(page.continue_token);
    version = std::move(page.resource_version);
  } while (!options.continue_token.empty());
  version_ = std::move(version);
  relist_at_ = loop_.monotonic() +
               std::chrono::duration_cast<Duration>(kRelistInterval * (0.8 + 0.2 * rng_.unit()));
  sink_.commit(version_);
  heard_at_ = loop_.now();
  synced_.set();
  complained_.clear();
  end_trouble();
  co_return Result<void>{};
}

Task<Result<ListPage>> Reflector::list_page(ListOptions options) {
  while (true) {
    options.limit = page_limit_.now();
    auto page = co_await cluster_.list(resource_, options);
    if (page || page.error().code != ErrorCode::TooLarge) co_return page;
    if (page_limit_.halve()) continue;
    co_return fail(ErrorCode::TooLarge,
                   fmt::format("one object alone is larger than the {} MiB that we read: {}",
                               limits::kMaxResponseBytes >> 20U, page.error().message));
  }
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
  end_trouble();
  while (true) {
    const WatchEvent event = CO_TRY(co_await stream->next());
    failures_ = 0;
    complained_.clear();
    version_ = api::resource_version_of(*event.object);
    heard_at_ = loop_.now();
    if (event.type != EventType::Bookmark) sink_.apply(event);
  }
}

// Said once, however often it is tried: until something works, or another thing is wrong.
void Reflector::complain(std::string_view doing, const Error& error) {
  ++failed_;
  Error trouble = error.in(fmt::format("{} {}", doing, resource_.qualified()));
  if (error.code == ErrorCode::NotFound && !remedy_.empty()) trouble.message += "; " + remedy_;
  if (trouble.message != complained_) log_.warning("{}; trying again", trouble.message);
  complained_ = trouble.message;
  trouble_ = std::move(trouble);
  news_.pulse();
}

void Reflector::end_trouble() {
  if (trouble_) log_.info("{} works again", resource_.qualified());
  trouble_.reset();
  news_.pulse();
}

Duration Reflector::next_pause(const Error& error) {
  const int doublings = std::min(failures_++, 9);
  const Duration most = error.code == ErrorCode::NotFound ? kLongestPauseForAbsent : kLongestPause;
  const Duration longest =
      std::min<Duration>(std::chrono::milliseconds(100) * (1 << doublings), most);
  // Jitter, so that many clients of one server do not come back together.
  const auto pause = std::chrono::duration_cast<Duration>(longest * (0.5 + 0.5 * rng_.unit()));
  return std::max<Duration>(pause, error.retry_after.value_or(std::chrono::milliseconds(0)));
}

}  // namespace muster::cluster
