#include "cli/logs/merge.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <stop_token>
#include <tuple>

#include "rt/scope.h"

namespace muster::cli {
namespace {

// Some milliseconds; then others have their turn: signals, the window's size.
constexpr std::size_t kInARow = 4096;

// First windows that are asked for together.
constexpr int kAtATime = 32;

using Due = std::tuple<Time, std::size_t>;  // when the next piece of which source is due

}  // namespace

// False: there is no more of it.
Task<Result<bool>> LogMerge::refill(std::size_t source) {
  auto more = co_await sources_[source].log->present();
  if (!more && more.error().code == ErrorCode::Cancelled) co_return fail(more.error());
  if (!more) refuse_(source, more.error());
  Source& refilled = sources_[source];
  refilled.window = more ? std::move(*more) : std::vector<LogPiece>{};
  refilled.next = 0;
  co_return !refilled.window.empty();
}

// The first window of each, several at a time: a server takes a while to answer.
Task<Result<void>> LogMerge::fill_all() {
  rt::TaskScope scope(loop_);
  rt::Gate gate(loop_, kAtATime);
  std::optional<Error> cancelled;
  for (std::size_t i = 0; i < sources_.size(); ++i) scope.spawn(fill(i, gate, cancelled));
  const auto on_stop = [&scope] { scope.request_stop(); };
  const std::stop_callback linked(co_await rt::current_stop(), on_stop);
  co_await scope.join();
  if (cancelled) co_return fail(*cancelled);
  co_return Result<void>{};
}

Task<void> LogMerge::fill(std::size_t source, rt::Gate& gate, std::optional<Error>& cancelled) {
  const auto turn = co_await gate.enter();
  if (!turn) {
    cancelled = turn.error();
    co_return;
  }
  const auto filled = co_await refill(source);
  if (!filled) cancelled = filled.error();
}

Task<Result<void>> LogMerge::run() {
  std::priority_queue<Due, std::vector<Due>, std::greater<>> queue;
  std::deque<std::pair<std::size_t, LogPiece>> kept;
  const auto enqueue = [&](std::size_t i) {
    Source& source = sources_[i];
    source.due = std::max(source.due, source.window[source.next].at);
    queue.emplace(source.due, i);
  };
  const auto keep = [&](std::size_t i, LogPiece line) {
    kept.emplace_back(i, std::move(line));
    if (kept.size() > *tail_) kept.pop_front();
  };
  CO_TRY(co_await fill_all());
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!sources_[i].window.empty()) enqueue(i);
  }
  for (std::size_t count = 1; !queue.empty(); ++count) {
    if (count % kInARow == 0) CO_TRY(co_await rt::yield(loop_));
    const std::size_t i = std::get<1>(queue.top());
    queue.pop();
    Source& source = sources_[i];
    LogPiece& piece = source.window[source.next++];
    if (!tail_) {
      if (!give_(i, piece)) break;
    } else {
      LogPiece& line = source.line[piece.error ? 1 : 0];
      if (line.bytes.empty()) {
        line = std::move(piece);
      } else {
        line.bytes += piece.bytes;
      }
      if (line.bytes.ends_with('\n')) keep(i, std::exchange(line, {}));
    }
    if (source.next < source.window.size() || CO_TRY(co_await refill(i))) enqueue(i);
  }
  if (!tail_) co_return Result<void>{};
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    for (LogPiece& line : sources_[i].line) {
      if (!line.bytes.empty()) keep(i, std::move(line));
    }
  }
  for (const auto& [i, line] : kept) {
    if (!give_(i, line)) break;
  }
  co_return Result<void>{};
}

}  // namespace muster::cli
