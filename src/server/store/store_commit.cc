#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "json/write.h"
#include "server/store/store_file_impl.h"

namespace muster::server {
namespace {

constexpr std::int64_t kHeader = 32;        // of the log of writes
constexpr std::int64_t kFrame = 24 + 4096;  // of each page in it
// 4 MB: copying them takes some ms, and a start after a crash reads no more than these.
constexpr int kLongestLog = 1'000;
// On a full disk the history makes room: all but the newest few, so many at a time (each is a page
// or two in the log of writes; fewer where they are larger).
constexpr Version kHistoryWhenLow = 8;
constexpr std::int64_t kLargestLot = 16;
constexpr std::int64_t kPiece = std::int64_t{64} * 1024;  // of zeros

// What stays known of a confidential object that is gone: what it was, not what it held.
// Annotations can hold all of it (kubectl's last-applied-configuration).
json::Value without_content(const json::Value& object) {
  json::Value metadata = object["metadata"];
  if (metadata.is_object()) {
    metadata.object().erase("annotations");
    metadata.object().erase("managedFields");
  }
  return json::Object{{"apiVersion", object["apiVersion"]},
                      {"kind", object["kind"]},
                      {"metadata", std::move(metadata)}};
}

}  // namespace

bool StoreFile::Impl::write_change(const Change& change, History history) {
  const bool deleted = change.type == ChangeType::Deleted;
  const std::string text = json::write(
      deleted && change.confidential ? without_content(*change.object) : *change.object);
  const auto version = static_cast<std::int64_t>(change.version);
  const auto previous = static_cast<std::int64_t>(change.previous);
  const std::int64_t sum = checksum(change.key, change.version, text);
  // Of a confidential object the log has the newest only.
  if (change.confidential && previous != 0 && !forget.bind(1, previous).run()) return false;
  const bool logged =
      history == History::Forget || append.bind(1, version)
                                        .bind(2, change.key)
                                        .bind(3, std::int64_t{std::to_underlying(change.type)})
                                        .bind(4, text)
                                        .bind(5, previous)
                                        .bind(6, change.time.time_since_epoch().count())
                                        .bind(7, sum)
                                        .run();
  if (!logged) return false;
  if (history == History::Keep) logged_bytes += static_cast<std::int64_t>(text.size());
  if (deleted) return remove.bind(1, change.key).run();
  return put.bind(1, change.key).bind(2, version).bind(3, text).bind(4, sum).run();
}

bool StoreFile::Impl::write_all(const std::vector<Change>& changes, Version log_floor,
                                History history) {
  const bool each = disk->mistake() == Mistake::TransactionEach;
  const bool counted = disk->mistake() != Mistake::CounterNotStored;
  for (const Change& change : changes) {
    if (!write_change(change, history)) return false;
    const bool last = &change == &changes.back();
    const auto version = static_cast<std::int64_t>(change.version);
    if ((last || each) && counted && !set_meta.bind(1, version).bind(2, "rv").run()) return false;
    if (each && !last && !(commit.run() && begin.run())) return false;
  }
  if (history == History::Forget && !changes.empty() &&
      !set_meta.bind(1, static_cast<std::int64_t>(changes.back().version))
           .bind(2, "log_floor")
           .run())
    return false;
  if (log_floor == 0) return true;
  const auto floor = static_cast<std::int64_t>(log_floor);
  return trim.bind(1, floor).run() && set_meta.bind(1, floor).bind(2, "log_floor").run();
}

Result<void> StoreFile::Impl::covered() {
  if (!reserve) return {};
  switch (reserve->covers(page_count.only_number(), free_count.only_number())) {
    case Reserve::Covers::Yes:
      return {};
    case Reserve::Covers::No:
      return fail(ErrorCode::InsufficientStorage,
                  fmt::format("writing {}: no room for more pages", path));
    case Reserve::Covers::Broken:
      break;
  }
  return fail(ErrorCode::Io, fmt::format("writing {}: it cannot grow", path));
}

Result<void> StoreFile::Impl::undo(Error why) {
  written_end =
      std::numeric_limits<std::int64_t>::max();  // what it wrote so far is counted nowhere
  if (sqlite3_get_autocommit(database) == 0 &&
      sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr) != SQLITE_OK)
    return fail(ErrorCode::Io,
                fmt::format("{}; and undoing it: {}", why.message, sqlite3_errmsg(database)));
  return fail(std::move(why));
}

Result<void> StoreFile::Impl::write(const std::vector<Change>& changes, Version log_floor,
                                    History history) {
  const bool early = disk->mistake() == Mistake::AnswerBeforeCommit;
  if (std::exchange(uncommitted, false) && !commit.run()) return undo(broken("writing").error());
  if (!begin.run()) return undo(broken("writing").error());
  if (!write_all(changes, log_floor, history)) return undo(broken("writing").error());
  if (const auto room = covered(); !room) return undo(room.error());
  if (early) {
    uncommitted = true;
  } else if (!commit.run()) {
    return undo(broken("writing").error());
  }
  written_end = std::max(written_end, kHeader + log_frames * kFrame);
  traces = traces || std::ranges::any_of(changes, [](const Change& change) {
             return change.confidential && change.previous != 0;
           });
  return {};
}

std::int64_t StoreFile::logged_bytes() const {
  return impl_->logged_bytes;
}

Result<Room> StoreFile::commit(const std::vector<Change>& changes, Version log_floor) {
  Impl& to = *impl_;
  auto written = to.write(changes, log_floor, Impl::History::Keep);
  const auto full = [&written] {
    return !written && written.error().code == ErrorCode::InsufficientStorage;
  };
  if (full()) {
    // It may only be that the log of writes could not grow: of this process, or of one that was
    // killed. The database has room for all of it.
    TRY(to.checkpoint());
    written = to.write(changes, log_floor, Impl::History::Keep);
  }
  // Whoever watched will have to list again; that is better than not to be able to delete.
  if (full()) written = to.write(changes, 0, Impl::History::Forget);
  if (!written) return fail(written.error());
  const bool low = to.reserve && to.reserve->low();
  const bool long_log =
      to.log_frames >= kLongestLog || (low && to.log_frames * kFrame * 4 > to.reserve->log_bytes());
  // What was to be written is: from here on a full disk is no answer any more.
  if (auto copied = long_log ? to.checkpoint() : Result<void>(); !copied) {
    if (copied.error().code != ErrorCode::InsufficientStorage) return fail(copied.error());
    return Room::Low;
  }
  if (!low) return Room::Enough;
  return look_for_room();
}

Result<void> StoreFile::Impl::shorten_log_if_low() {
  const auto newest = static_cast<Version>(std::max<std::int64_t>(newest_version.only_number(), 0));
  if (!reserve || !reserve->low() || newest <= kHistoryWhenLow) return {};
  const auto floor = static_cast<std::int64_t>(newest - kHistoryWhenLow);
  const bool shortened = begin.run() && trim_some.bind(1, floor).bind(2, lot_when_low).run() &&
                         note_floor.run() && commit.run();
  if (shortened) {
    lot_when_low = std::min(lot_when_low * 2, kLargestLot);
    return {};
  }
  lot_when_low = std::max<std::int64_t>(lot_when_low / 4, 1);
  return undo(broken("writing").error());
}

Result<Room> StoreFile::look_for_room() {
  Impl& to = *impl_;
  if (auto shortened = to.shorten_log_if_low();
      !shortened && shortened.error().code != ErrorCode::InsufficientStorage)
    return fail(shortened.error());
  if (const auto room = to.covered(); !room && room.error().code == ErrorCode::Io)
    return fail(room.error());
  return to.reserve && to.reserve->low() ? Room::Low : Room::Enough;
}

Result<void> StoreFile::Impl::checkpoint() {
  int frames = 0;
  int copied = 0;
  if (std::exchange(uncommitted, false) && !commit.run()) return broken("writing");
  if (disk->mistake() == Mistake::CheckpointUnsynced) TRY(execute("PRAGMA synchronous=OFF"));
  const int code =
      sqlite3_wal_checkpoint_v2(database, nullptr, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);
  if (disk->mistake() == Mistake::CheckpointUnsynced) TRY(execute("PRAGMA synchronous=FULL"));
  if (code != SQLITE_OK) return broken("writing");
  if (frames > 0 && frames == copied) TRY(wipe_log());
  return {};
}

// Everything is in the database, so nobody reads the log of writes: SQLite begins it anew with the
// next one. Its header goes first, and the disk has that before the rest goes: a header with the
// first few of its pages would be taken for newer than the database.
Result<void> StoreFile::Impl::wipe_log() {
  sqlite3_file* log = nullptr;
  sqlite3_int64 size = 0;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
  if (log == nullptr || log->pMethods == nullptr) return {};
  static constexpr std::array<char, kPiece> kZeros{};
  const auto wipe = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t at = from; at < to; at += kPiece) {
      const auto count = static_cast<int>(std::min(to - at, kPiece));
      if (log->pMethods->xWrite(log, kZeros.data(), count, at) != SQLITE_OK) return false;
    }
    return true;
  };
  const bool forgetful = disk->mistake() == Mistake::ForgetfulScrub;
  bool ok =
      wipe(0, kHeader) && (forgetful || log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) == SQLITE_OK);
  log_frames = 0;
  if (ok && std::exchange(traces, false)) {
    ok = log->pMethods->xFileSize(log, &size) == SQLITE_OK &&
         wipe(kHeader, std::min<std::int64_t>(written_end, size));
    written_end = 0;
  }
  if (ok) return {};
  return fail(ErrorCode::Io, fmt::format("writing {}-wal: it cannot be wiped", path));
}

Result<void> StoreFile::tidy() {
  return impl_->checkpoint();
}

}  // namespace muster::server
