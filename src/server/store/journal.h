#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/log.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "server/kinds.h"
#include "server/store/store.h"
#include "server/store/table.h"
#include "server/store/watcher.h"

namespace muster::server {

// All objects of the server, and the one place where they change. A write takes the next version,
// is at once what later writes are decided on, and becomes visible to readers and watchers when the
// store has made it durable, in version order. When the disk is full it is taken back, with all
// that was decided after it, before anybody saw it. Lives on the server's loop; kinds and store
// outlive it.
class Journal {
 public:
  // Called inside every write; `after` is null for a deletion. Also when a write is taken back,
  // which is the write that undoes it.
  using Listener = std::function<void(Table&, const ObjectPtr& before, const ObjectPtr& after)>;

  Journal(rt::Loop& loop, const Kinds& kinds, Store& store, Logger log);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  void listen(Listener listener) { listener_ = std::move(listener); }

  [[nodiscard]] Table& table(const api::Resource& resource) const;
  [[nodiscard]] Table& table(const Kind& kind) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Table>>& tables() const { return tables_; }

  // Creates or replaces; sets metadata.resourceVersion.
  ObjectPtr put(Table& table, json::Value object);
  // Removes; `last` is how it is shown in the DELETED event, with the version of the deletion.
  ObjectPtr erase(Table& table, json::Value last);

  // Everything decided so far is durable on return. Answers of writes wait for it, refusals too:
  // they may rest on a change that a crash could still take back.
  Task<Result<void>> settled() { return store_.durable(head_); }

  [[nodiscard]] Version committed() const { return hub_.committed; }
  // InsufficientStorage while nothing new should be written; deletions and the like may be.
  [[nodiscard]] Result<void> room() {
    if (auto full = store_.no_room()) return fail(std::move(*full));
    return {};
  }
  [[nodiscard]] bool is_low() const { return store_.room() == Room::Low; }
  [[nodiscard]] const std::optional<Error>& failure() const { return store_.failure(); }
  [[nodiscard]] WatchHub& hub() { return hub_; }
  // Pulsed when versions became visible.
  [[nodiscard]] rt::Event& progress() { return progress_; }
  // Ends every watch.
  void end_watches();

 private:
  struct Staged {
    Table* table = nullptr;
    ObjectKey key;
    Table::Published change;
  };

  void load(Contents contents);
  void publish(Version up_to);
  void undo();
  void trim_history();
  Table* table_of_key(std::string_view stored, ObjectKey& key);
  void stage(Table& table, ObjectKey key, ChangeType type, ObjectPtr before, ObjectPtr object);

  rt::Loop& loop_;
  Store& store_;
  Logger log_;
  std::vector<std::unique_ptr<Table>> tables_;
  WatchHub hub_;
  Version head_ = 0;
  std::deque<Staged> staged_;
  Listener listener_;
  rt::Event progress_;
};

}  // namespace muster::server
