#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "rt/loop.h"
#include "rt/pool.h"
#include "rt/task.h"
#include "rt/wait.h"
#include "server/store/change.h"
#include "server/store/home_lock.h"
#include "server/store/store_file.h"

namespace muster::server {

// Makes changes durable in the order they are appended. Lives on one loop; the file is written by
// one worker at a time. Whatever was appended while a commit ran goes into the next one, as one
// transaction. Always holds: committed() only grows, and after a crash the file has everything up
// to a version that was at least committed(). A full disk is an answer: everything that is not
// durable yet is taken back, whoever waits for it is told InsufficientStorage, and the next write
// is tried as if nothing had been. Any other failure is final: every later write fails with it,
// because after a failed fsync nobody knows what the disk has. Ends with close(), which writes what
// is queued.
class Store {
 public:
  struct Options {
    rt::Loop& loop;
    rt::Pool* pool = nullptr;      // needed with a home
    std::string home;              // empty: in memory only, commits complete through the loop
    std::optional<HomeLock> lock;  // none: taken here
    // Reads what the home holds and lets go of it at once; what is written stays in memory.
    bool snapshot = false;
    StoreDisk* disk = nullptr;  // none: the real one
    Logger log;
  };

  // What the file keeps of changes: a start reads the last 128, nobody reads more. Some go a
  // little later than they could, in lots.
  static constexpr Version kLogVersions = 1'000;
  static constexpr std::int64_t kLogBytes = std::int64_t{16} << 20U;  // of JSON
  static constexpr Duration kLogAge = std::chrono::minutes(5);

  static Result<std::unique_ptr<Store>> open(Options options);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  // What was there at the start; once.
  Contents take_contents();

  // Called after each commit with the newest durable version, and once when the store has failed.
  void on_commit(std::function<void(Version)> callback) { on_commit_ = std::move(callback); }
  void on_failure(std::function<void(const Error&)> callback) { on_failure_ = std::move(callback); }
  // Called when everything after committed() was taken back; before whoever waits is told.
  void on_undo(std::function<void()> callback) { on_undo_ = std::move(callback); }

  // What to tell whoever would write something new while only the reserve is left; looks for room
  // meanwhile. Nothing when there is room.
  std::optional<Error> no_room();
  [[nodiscard]] Room room() const { return room_; }

  // Queues a change; versions must grow.
  void append(Change change);
  // Returns when everything up to the version is on disk.
  Task<Result<void>> durable(Version version);
  [[nodiscard]] Version committed() const { return committed_; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  [[nodiscard]] std::uint64_t commits() const { return commits_; }

  Task<void> close();

 private:
  explicit Store(Options options);
  void wake_writer();
  void start_commit();
  void finish_commit(Version newest, Result<Room> result);
  void undo();
  void fail_for_good(Error why);
  void look_for_room();
  void wipe_traces();
  void work(std::function<Result<Room>()> job);
  void finish_work(const Result<Room>& result);
  [[nodiscard]] Error full() const;
  Version log_floor(Time now);
  void leave_tidy();

  rt::Loop& loop_;
  rt::Pool* pool_;
  std::string home_;
  Logger log_;
  std::optional<HomeLock> lock_;
  std::unique_ptr<StoreFile> file_;
  Contents contents_;

  std::vector<Change> queue_;
  Version appended_ = 0;
  Version committed_ = 0;
  Version trimmed_ = 0;
  struct Commit {
    Time time;
    Version newest = 0;
    std::int64_t logged = 0;  // bytes in the log up to here, as StoreFile counts
  };
  std::deque<Commit> logged_;         // commits of which the log has something
  std::int64_t forgotten_bytes_ = 0;  // counted, and gone from the log or about to
  std::uint64_t commits_ = 0;
  bool writing_ = false;         // a worker has the file, or will in the next turn
  bool about_to_write_ = false;  // in the next turn, or as soon as there is enough
  Room room_ = Room::Enough;
  bool traces_ = false;
  std::optional<Error> failure_;
  std::multimap<Version, rt::Pending<void>> waiters_;
  std::function<void(Version)> on_commit_;
  std::function<void(const Error&)> on_failure_;
  std::function<void()> on_undo_;
  rt::Event idle_;
};

}  // namespace muster::server
