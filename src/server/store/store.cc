#include "server/store/store.h"

#include <sys/stat.h>

#include <cerrno>
#include <iterator>

#include <fmt/format.h>

namespace muster::server {
namespace {

// Log rows go in lots, so that trimming does not cost every commit a page.
constexpr Version kTrimLot = 256;

// So many are worth a commit of their own: the worker writes them while the loop makes more.
constexpr std::size_t kEnough = 32;

// On a full disk small transactions go where one large would not.
constexpr std::size_t kLotWhenLow = 16;
constexpr Duration kTryAgain = std::chrono::seconds(1);

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
    : loop_(options.loop),
      pool_(options.pool),
      home_(std::move(options.home)),
      log_(options.log.named("store")),
      idle_(loop_) {
  idle_.set();
}

Store::~Store() {
  CHECK(!writing_);
}

Result<std::unique_ptr<Store>> Store::open(Options options) {
  const std::string home = options.home;
  const bool snapshot = options.snapshot;
  StoreDisk& disk = options.disk != nullptr ? *options.disk : StoreDisk::real();
  auto lock = std::move(options.lock);
  std::unique_ptr<Store> store(new Store(std::move(options)));
  if (home.empty()) return store;
  CHECK(store->pool_ != nullptr);
  TRY(make_home(home));
  store->lock_ = lock ? std::move(lock) : TRY(HomeLock::take(home));
  store->file_ = TRY(StoreFile::open(home + "/store.db", disk,
                                     snapshot ? StoreFile::Use::Look : StoreFile::Use::Write));
  store->contents_ = store->file_->take_contents();
  store->committed_ = store->appended_ = store->contents_.version;
  store->trimmed_ = store->contents_.trimmed;
  for (const Change& change : store->contents_.log) {
    store->logged_.push_back({.time = change.time, .newest = change.version});
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
  traces_ = traces_ || (change.confidential && change.previous != 0);
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
  if (failure_ || queue_.empty()) return;
  if (about_to_write_ && file_ && queue_.size() >= kEnough) return start_commit();
  if (writing_) return;
  writing_ = about_to_write_ = true;
  idle_.reset();
  loop_.post([this] { start_commit(); });
}

void Store::start_commit() {
  if (!std::exchange(about_to_write_, false)) return;  // there was enough earlier
  std::vector<Change> batch = std::exchange(queue_, {});
  if (room_ == Room::Low && batch.size() > kLotWhenLow) {
    const auto rest = batch.begin() + kLotWhenLow;
    queue_.assign(std::move_iterator(rest), std::move_iterator(batch.end()));
    batch.erase(rest, batch.end());
  }
  const Version newest = batch.back().version;
  const Version floor = log_floor(loop_.now());
  if (!file_) {
    finish_commit(newest, Room::Enough);
    return;
  }
  pool_->submit([this, batch = std::move(batch), newest, floor] {
    Result<Room> result = file_->commit(batch, floor);
    loop_.post_from_thread(
        [this, newest, result = std::move(result)] { finish_commit(newest, result); });
  });
}

void Store::finish_commit(Version newest, Result<Room> result) {
  writing_ = false;
  if (!result) {
    if (result.error().code == ErrorCode::InsufficientStorage)
      undo();
    else
      fail_for_good(result.error());
    return;
  }
  ++commits_;
  committed_ = newest;
  room_ = *result;
  if (file_)
    logged_.push_back({.time = loop_.now(), .newest = newest, .logged = file_->logged_bytes()});
  if (on_commit_) on_commit_(newest);
  while (!waiters_.empty() && waiters_.begin()->first <= newest) {
    waiters_.begin()->second.set({});
    waiters_.erase(waiters_.begin());
  }
  wake_writer();
  if (!writing_) wipe_traces();
  if (!writing_) idle_.set();
}

void Store::fail_for_good(Error why) {
  failure_ = why.in("the store has failed and takes no more writes");
  log_.error("{}", failure_->message);
  queue_.clear();
  for (const auto& [version, waiter] : std::exchange(waiters_, {})) waiter.set(fail(*failure_));
  idle_.set();
  if (on_failure_) on_failure_(*failure_);
}

Error Store::full() const {
  return {.code = ErrorCode::InsufficientStorage,
          .message = fmt::format("the disk of {} is full: make room there, or delete jobs and "
                                 "others of its objects; what is stored already is safe",
                                 home_),
          .causes = {},
          .retry_after = std::chrono::duration_cast<std::chrono::milliseconds>(kTryAgain)};
}

// What was decided since the last commit rests on what could not be written: all of it goes.
void Store::undo() {
  log_.warning("{}", full().message);
  room_ = Room::Low;
  queue_.clear();
  appended_ = committed_;
  if (on_undo_) on_undo_();
  for (const auto& [version, waiter] : std::exchange(waiters_, {})) waiter.set(fail(full()));
  if (!writing_) idle_.set();  // an undo may bring about writes of its own
}

std::optional<Error> Store::no_room() {
  if (room_ == Room::Enough) return std::nullopt;
  look_for_room();
  return full();
}

void Store::look_for_room() {
  if (!file_ || failure_) return;
  work([this] { return file_->look_for_room(); });
}

// Nobody waits for it: it is done when nothing else is to do.
void Store::wipe_traces() {
  if (!file_ || failure_ || !traces_) return;
  traces_ = false;
  work([this, room = room_]() -> Result<Room> {
    TRY(file_->tidy());
    return room;
  });
}

// What a worker does with the file between two commits.
void Store::work(std::function<Result<Room>()> job) {
  if (writing_) return;
  writing_ = true;
  idle_.reset();
  pool_->submit([this, job = std::move(job)] {
    Result<Room> result = job();
    loop_.post_from_thread([this, result = std::move(result)] { finish_work(result); });
  });
}

void Store::finish_work(const Result<Room>& result) {
  writing_ = false;
  if (!result && result.error().code != ErrorCode::InsufficientStorage) {
    fail_for_good(result.error());
    return;
  }
  room_ = result.value_or(Room::Low);
  wake_writer();
  if (!writing_) idle_.set();
}

// Up to where the log can go now; 0 when it is not worth a write yet.
Version Store::log_floor(Time now) {
  Version floor = appended_ > kLogVersions ? appended_ - kLogVersions : 0;
  const std::int64_t bytes = logged_.empty() ? 0 : logged_.back().logged;
  const bool large = bytes - forgotten_bytes_ > kLogBytes;
  const std::int64_t kept = large ? kLogBytes / 2 : kLogBytes;
  while (!logged_.empty()) {
    const Commit& oldest = logged_.front();
    const bool goes =
        now - oldest.time > kLogAge || oldest.newest <= floor || bytes - forgotten_bytes_ > kept;
    if (!goes) break;
    floor = std::max(floor, oldest.newest);
    forgotten_bytes_ = std::max(forgotten_bytes_, oldest.logged);
    logged_.pop_front();
  }
  if (floor <= trimmed_ || (floor < trimmed_ + kTrimLot && !large)) return 0;
  trimmed_ = floor;
  return floor;
}

// Before the end: what no start will read goes, so that the next one has little to check.
void Store::leave_tidy() {
  if (!file_ || failure_) return;
  const Version floor = StoreFile::restored_floor(committed_);
  if (floor > trimmed_)
    if (auto shortened = file_->commit({}, floor); !shortened)
      log_.warning("{}; the next start takes longer", shortened.error().message);
  if (auto tidied = file_->tidy(); !tidied)
    log_.warning("{}; the next start takes longer", tidied.error().message);
}

Task<void> Store::close() {
  while (writing_ || (!queue_.empty() && !failure_)) {
    auto wait = idle_.wait().with_stop(std::stop_token());
    [[maybe_unused]] const auto waited = co_await std::move(wait);
  }
  on_commit_ = nullptr;
  on_failure_ = nullptr;
  on_undo_ = nullptr;
  leave_tidy();
  file_.reset();
  lock_.reset();
  if (!failure_) failure_ = Error{.code = ErrorCode::Unavailable, .message = "the store is closed"};
}

}  // namespace muster::server
