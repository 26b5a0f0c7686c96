#pragma once

#include <functional>
#include <vector>

#include "rt/loop.h"
#include "rt/source.h"
#include "server/store/selection.h"
#include "server/store/table.h"
#include "server/types.h"

namespace muster::server {

// What all watches of a server share; outlives them.
struct WatchHub {
  rt::Loop& loop;
  Version committed = 0;  // everything up to here has been published
  std::size_t open = 0;
  bool closed = false;
};

// A reader of a table's ring: it has no queue of its own, only a place in the ring, so a slow one
// costs nothing and is told Gone once the ring has moved past it; Unavailable when the server
// closes.
class Watcher final : public rt::Source<WatchEvent> {
 public:
  Watcher(WatchHub& hub, Table& table, Selector selector, WatchOptions options, Version from,
          std::vector<ObjectPtr> initial);
  ~Watcher() override { --hub_.open; }

  Task<Result<WatchEvent>> next() override;
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
  Monotonic next_bookmark_;
};

}  // namespace muster::server
