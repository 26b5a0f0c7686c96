#pragma once

#include <set>
#include <stop_token>
#include <vector>

#include "rt/loop.h"
#include "rt/source.h"
#include "server/store/selection.h"
#include "server/store/shared_texts.h"
#include "server/store/table.h"
#include "server/store/watch_seats.h"
#include "server/types.h"

namespace muster::server {

class Watcher;

// What all watches of a server share; outlives them.
struct WatchHub {
  explicit WatchHub(rt::Loop& on) : loop(on) {}
  rt::Loop& loop;
  Version committed = 0;  // everything up to here has been published
  bool closed = false;
  std::set<Watcher*> watchers;
  WatchSeats seats;
  SharedTexts texts;
};

// A reader of a table's ring: it has no queue of its own, only a place in the ring and the objects
// that were there when it began. A slow one is told Gone once the ring has moved past it, also when
// it has not come to the end of those: what it holds is never older than the ring. Unavailable when
// the server closes.
class Watcher final : public rt::Source<WatchEvent> {
 public:
  Watcher(WatchHub& hub, Table& table, Selector selector, WatchOptions options, Version from,
          std::vector<ObjectPtr> initial);
  ~Watcher() override { hub_.watchers.erase(this); }

  Task<Result<WatchEvent>> next() override;

  // Who is passing on the last event, while that takes: stopped when history has moved past it.
  class Teller {
   public:
    Teller(Watcher& watch, std::stop_source& stop) : watch_(watch) { watch_.teller_ = &stop; }
    Teller(const Teller&) = delete;
    Teller& operator=(const Teller&) = delete;
    ~Teller() { watch_.teller_ = nullptr; }

   private:
    Watcher& watch_;
  };
  void history_moved() {
    if (teller_ != nullptr && at_ <= table_.floor()) teller_->request_stop();
  }

  // A bookmark of how far the reader has come.
  [[nodiscard]] WatchEvent mark() const { return bookmark(false); }

  static constexpr Duration kBookmarkInterval = std::chrono::minutes(1);

 private:
  std::optional<WatchEvent> take_initial();
  std::optional<WatchEvent> take_change();
  std::optional<WatchEvent> translate(const Table::Published& change) const;
  [[nodiscard]] WatchEvent bookmark(bool end_of_initial) const;
  Task<Result<bool>> wait_for_news();

  WatchHub& hub_;
  Table& table_;
  Selector selector_;
  bool bookmarks_;
  bool mark_end_;
  Version at_;
  std::vector<ObjectPtr> initial_;
  std::size_t taken_ = 0;
  std::stop_source* teller_ = nullptr;
  Monotonic next_bookmark_;
};

}  // namespace muster::server
