#include "server/store/store.h"

#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

namespace muster::server {
namespace {

// Log rows go in lots, so that trimming does not cost every commit a page.
constexpr Version kTrimLot = 256;

Result<void> make_home(const std::string& home) {
  for (std::size_t at = 1; at <= home.size(); ++at) {
    if (at != home.size() && home[at] != '/') continue;
    const std::string part = home.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno("make " + part);
  }
  return {};
}

}  // namespace

Store::Store(Options options)
    : loop_(options.loop), pool_(options.pool), log_(options.log.named("store")), idle_(loop_) {
  idle_.set();
}

Store::~Store() {
  CHECK(!writing_);
}

Result<std::unique_ptr<Store>> Store::open(Options options) {
  const std::string home = options.home;
  const bool snapshot = options.snapshot;
  auto lock = std::move(options.lock);
  std::unique_ptr<Store> store(new Store(std::move(options)));
  if (home.empty()) return store;
  CHECK(store->pool_ != nullptr);
  TRY(make_home(home));
  store->lock_ = lock ? std::move(lock) : TRY(HomeLock::take(home));
  store->file_ = TRY(StoreFile::open(home + "/store.db"));
  store->contents_ = store->file_->take_contents();
  store->committed_ = store->appended_ = store->contents_.version;
  store->trimmed_ = store->contents_.trimmed;
  for (const Change& change : store->contents_.log) {
    store->commit_times_.emplace_back(change.time, change.version);
  }
  if (snapshot) {
    store->file_.reset();
    store->lock_.reset();
  }
  return store;
}

Contents Store::take_contents() {
  return std::move(contents_);
}

void Store::append(Change change) {
  CHECK(change.version > appended_);
  appended_ = change.version;
  if (failure_) return;
  queue_.push_back(std::move(change));
  wake_writer();
}

Task<Result<void>> Store::durable(Version version) {
  if (failure_) co_return fail(*failure_);
  if (version <= committed_) co_return Result<void>{};
  const rt::Pending<void> pending(loop_);
  waiters_.emplace(version, pending);
  co_return co_await pending;
}

// The commit starts in the next turn of the loop: what else this turn writes shares it.
void Store::wake_writer() {
  if (writing_ || queue_.empty() || failure_) return;
  writing_ = true;
  idle_.reset();
  loop_.post([this] { start_commit(); });
}

void Store::start_commit() {
  std::vector<Change> batch = std::exchange(queue_, {});
  const Version newest = batch.back().version;
  commit_times_.emplace_back(loop_.now(), newest);
  const Version floor = log_floor(loop_.now());
  if (!file_) {
    finish_commit(newest, {});
    return;
  }
  pool_->submit([this, batch = std::move(batch), newest, floor] {
    Result<void> result = file_->commit(batch, floor);
    loop_.post_from_thread(
        [this, newest, result = std::move(result)] { finish_commit(newest, result); });
  });
}

void Store::finish_commit(Version newest, Result<void> result) {
  writing_ = false;
  if (!result) {
    failure_ = result.error().in("the store has failed and takes no more writes");
    log_.error("{}", failure_->message);
    queue_.clear();
    for (const auto& [version, waiter] : std::exchange(waiters_, {})) waiter.set(fail(*failure_));
    idle_.set();
    if (on_failure_) on_failure_(*failure_);
    return;
  }
  ++commits_;
  committed_ = newest;
  if (on_commit_) on_commit_(newest);
  while (!waiters_.empty() && waiters_.begin()->first <= newest) {
    waiters_.begin()->second.set({});
    waiters_.erase(waiters_.begin());
  }
  if (queue_.empty()) idle_.set();
  wake_writer();
}

// Up to where the log can go now; 0 when it is not worth a write yet.
Version Store::log_floor(Time now) {
  Version floor = appended_ > kLogVersions ? appended_ - kLogVersions : 0;
  while (!commit_times_.empty() && now - commit_times_.front().first > kLogAge) {
    floor = std::max(floor, commit_times_.front().second);
    commit_times_.pop_front();
  }
  while (!commit_times_.empty() && commit_times_.front().second <= floor) commit_times_.pop_front();
  if (floor < trimmed_ + kTrimLot) return 0;
  trimmed_ = floor;
  return floor;
}

// Before the end: what no start will read goes, so that the next one has little to check.
void Store::shorten_log() {
  const Version floor = StoreFile::restored_floor(committed_);
  if (!file_ || failure_ || floor <= trimmed_) return;
  if (auto shortened = file_->commit({}, floor); !shortened) {
    log_.warning("{}; the next start takes longer", shortened.error().message);
  }
}

Task<void> Store::close() {
  while (writing_ || (!queue_.empty() && !failure_)) {
    auto wait = idle_.wait().with_stop(std::stop_token());
    [[maybe_unused]] const auto waited = co_await std::move(wait);
  }
  on_commit_ = nullptr;
  on_failure_ = nullptr;
  shorten_log();
  file_.reset();
  lock_.reset();
  if (!failure_) failure_ = Error{.code = ErrorCode::Unavailable, .message = "the store is closed"};
}

}  // namespace muster::server
