#include "cli/logs/api_log.h"

#include <algorithm>
#include <utility>

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Of each log when no connection is held: few requests for a usual one, little memory for many.
constexpr std::size_t kWindow = std::size_t{64} << 10U;
constexpr int kTries = 3;
// To go on behind a line, those that have its time are counted: a tail must not begin among them.
// Writers give one time to all that they read at once, 64 KiB, or hundreds of lines.
constexpr int kOfOneTime = 1000;

bool may_pass(ErrorCode code) {
  return code == ErrorCode::Unavailable || code == ErrorCode::Timeout ||
         code == ErrorCode::TooManyRequests || code == ErrorCode::Io || code == ErrorCode::Internal;
}

}  // namespace

ApiLog::ApiLog(rt::Loop& loop, cluster::Cluster& cluster, cluster::ObjectKey pod,
               std::string container, LogWindow window, Options options)
    : loop_(loop),
      cluster_(cluster),
      pod_(std::move(pod)),
      container_(std::move(container)),
      window_(window),
      options_(std::move(options)),
      changed_(loop) {}

void ApiLog::see(const ContainerProgress& progress) {
  progress_ = progress;
  changed_.pulse();
}

Task<Result<void>> ApiLog::open(Mode mode) {
  asked_ = progress_;
  mode_ = mode;
  cluster::LogOptions wanted{.container = container_,
                             .follow = mode == Mode::Follow,
                             .previous = mode == Mode::Previous || options_.previous,
                             .timestamps = true,
                             .since_time = text_.resume_from()};
  if (!wanted.since_time) {
    wanted.since_time = window_.since;
    wanted.tail_lines = window_.tail;
    if (wanted.tail_lines && options_.goes_on) *wanted.tail_lines += kOfOneTime;
  }
  text_.begin_again();
  stream_ = CO_TRY(co_await cluster_.log(pod_, std::move(wanted)));
  co_return Result<void>{};
}

Task<Result<std::vector<LogPiece>>> ApiLog::read_stream() {
  std::vector<LogPiece> pieces;
  std::size_t size = 0;
  while (true) {
    auto chunk = co_await stream_->next();
    if (!chunk) {
      stream_.reset();
      if (!pieces.empty()) co_return pieces;  // what breaks is told by the next try
      co_return fail(chunk.error());
    }
    if (!*chunk) {
      stream_.reset();
      read_all_ = true;
      co_return pieces;
    }
    failures_ = 0;
    const std::size_t known = pieces.size();
    text_.feed(**chunk, pieces);
    for (std::size_t i = known; i < pieces.size(); ++i) size += pieces[i].bytes.size();
    if (!hold_open_ && mode_ == Mode::Present && size < kWindow) continue;
    if (!pieces.empty()) co_return pieces;
  }
}

Task<Result<std::vector<LogPiece>>> ApiLog::present() {
  while (true) {
    if (std::exchange(read_all_, false)) {
      window_.tail.reset();  // what comes from now on is new
      co_return std::vector<LogPiece>{};
    }
    auto pieces = Result<std::vector<LogPiece>>();
    if (!stream_) {
      if (auto opened = co_await open(Mode::Present); !opened) pieces = fail(opened.error());
    }
    if (pieces) pieces = co_await read_stream();
    if (pieces && !hold_open_) stream_.reset();
    attempt_ = asked_.attempt;
    if (pieces && pieces->empty()) continue;
    if (pieces) co_return pieces;
    if (!may_pass(pieces.error().code) || ++failures_ >= kTries) co_return pieces;
    CO_TRY(co_await rt::sleep_for(loop_, milliseconds(100)));
  }
}

// Until the pod says something, but not for longer.
Task<Result<void>> ApiLog::pause(Duration most) {
  const rt::Timer enough(loop_, most, [this] { changed_.pulse(); });
  co_return co_await changed_.wait();
}

void ApiLog::begin_next_run() {
  attempt_ = asked_.attempt;
  text_.begin_next_run();
}

Task<Result<bool>> ApiLog::worth_another_try(Error why) {
  if (why.code == ErrorCode::Cancelled) co_return fail(std::move(why));
  if (mode_ == Mode::Previous) {  // the run before is not kept; the present one is
    begin_next_run();
    co_return true;
  }
  if (why.code == ErrorCode::NotFound) co_return false;  // the pod is gone, with all that it wrote
  const bool passes = may_pass(why.code) || why.code == ErrorCode::BadRequest;
  ++failures_;
  if (!passes || (asked_.over && failures_ >= kTries)) co_return fail(std::move(why));
  if (failures_ == kTries && why.code != ErrorCode::BadRequest && options_.on_trouble)
    options_.on_trouble(why);
  const int doubled = std::min(failures_, 6);
  CO_TRY(co_await pause(milliseconds(50) * (1 << doubled)));
  co_return true;
}

Task<Result<std::vector<LogPiece>>> ApiLog::more() {
  while (true) {
    if (!stream_) {
      if (!progress_.started) {
        if (progress_.over) co_return std::vector<LogPiece>{};
        CO_TRY(co_await changed_.wait());
        continue;
      }
      const bool started_again = attempt_ >= 0 && progress_.attempt > attempt_;
      if (auto opened = co_await open(started_again ? Mode::Previous : Mode::Follow); !opened) {
        if (!CO_TRY(co_await worth_another_try(opened.error()))) co_return std::vector<LogPiece>{};
        continue;
      }
      if (!started_again) attempt_ = asked_.attempt;
    }
    auto pieces = co_await read_stream();
    if (!pieces) {
      if (!CO_TRY(co_await worth_another_try(pieces.error()))) co_return std::vector<LogPiece>{};
      continue;
    }
    const bool at_end = std::exchange(read_all_, false);
    if (at_end && mode_ == Mode::Previous) begin_next_run();
    if (!pieces->empty()) co_return pieces;
    if (!at_end || mode_ == Mode::Previous) continue;
    // It was over before we asked, and there is no more.
    if (asked_.over) co_return std::vector<LogPiece>{};
    if (!progress_.over && progress_.attempt == attempt_) CO_TRY(co_await pause(seconds(1)));
  }
}

}  // namespace muster::cli
