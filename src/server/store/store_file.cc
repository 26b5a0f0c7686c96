#include "server/store/store_file.h"

#include <sqlite3.h>

#include <bit>
#include <cerrno>
#include <map>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/strings.h"
#include "json/read.h"
#include "server/store/store_file_impl.h"

namespace muster::server {
namespace {

constexpr std::int64_t kSchemaVersion = 1;

// How much of the log is read at the start: what happened just before, for watchers that come back
// after a crash. Older ones list again. All of it would make every start longer than the last:
// reading 4 kB takes some 20 µs, and a job of five ranks writes about 80 of them.
constexpr Version kRestoredLog = 128;

// One transaction, so that a new home waits for the disk once.
constexpr const char* kSchema = R"(
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS objects(key TEXT PRIMARY KEY, rv INTEGER NOT NULL, json TEXT NOT NULL,
  checksum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS log(rv INTEGER PRIMARY KEY, key TEXT NOT NULL, type INTEGER NOT NULL,
  json TEXT NOT NULL, prev_rv INTEGER NOT NULL, time INTEGER NOT NULL, checksum INTEGER NOT NULL);
INSERT OR IGNORE INTO meta VALUES('schema',1),('rv',0),('log_floor',0);
COMMIT;
)";

// The oldest of what no start would read.
constexpr const char* kTrimSome =
    "DELETE FROM log WHERE rv IN (SELECT rv FROM log WHERE rv<=? ORDER BY rv LIMIT ?)";

constexpr const char* kNoteFloor =
    "UPDATE meta SET value=max(value,(SELECT coalesce(min(rv)-1,0) FROM log)) "
    "WHERE name='log_floor'";

// Ours, and checked when it was written: wider than what a client may send, because escapes make
// text longer and a status may have been merged into a spec.
constexpr json::ReadLimits kStoredLimits{.bytes = limits::kMaxResponseBytes,
                                         .depth = 2 * limits::kMaxDepth,
                                         .nodes = json::kAnswerLimits.nodes};

}  // namespace

std::int64_t checksum(std::string_view key, Version version, std::string_view json) {
  const std::uint64_t sum =
      stable_hash(json) ^ std::rotl(stable_hash(key), 1) ^ (version * 0x9e3779b97f4a7c15ULL);
  return std::bit_cast<std::int64_t>(sum);
}

bool StoreFile::Impl::is_full() const {
  const int code = sqlite3_errcode(database);
  // A quota is a disk, too; SQLite knows only the other one.
  const bool quota = sqlite3_system_errno(database) == EDQUOT;
  return (code & 0xff) == SQLITE_FULL || ((code & 0xff) == SQLITE_IOERR && quota);
}

std::unexpected<Error> StoreFile::Impl::broken(std::string_view doing) const {
  if (is_full()) {
    return fail(Error{.code = ErrorCode::InsufficientStorage,
                      .message = fmt::format("{} {}: {}", doing, path, sqlite3_errmsg(database)),
                      .causes = {},
                      .retry_after = std::nullopt});
  }
  return fail(ErrorCode::Io, fmt::format("{} {}: {}", doing, path, sqlite3_errmsg(database)));
}

std::unexpected<Error> StoreFile::Impl::corrupt(std::string_view what) const {
  return fail(
      ErrorCode::Internal,
      fmt::format("{} is corrupt: {}; restore it from a backup, or move it away to start empty",
                  path, what));
}

Result<void> StoreFile::Impl::execute(const char* text) {
  if (sqlite3_exec(database, text, nullptr, nullptr, nullptr) != SQLITE_OK) {
    const int code = sqlite3_errcode(database);
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return corrupt(sqlite3_errmsg(database));
    return broken("opening");
  }
  return {};
}

Result<void> StoreFile::Impl::open_database() {
  // SQLite gives its WAL the permissions of the main file, so that one is made first, for us alone.
  TRY(disk->make_file(path));
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX,
                      disk->vfs()) != SQLITE_OK) {
    return broken("opening");
  }
  sqlite3_extended_result_codes(database, 0);
  // EXCLUSIVE: whoever opens it owns the home, so the index of the WAL needs no file, which a full
  // disk would refuse. Checkpoints are ours to make: their failures are not to be overlooked.
  TRY(
      execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
              "PRAGMA secure_delete=ON; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;"));
  if (disk->mistake() == Mistake::NoSync) TRY(execute("PRAGMA synchronous=OFF"));
  int persist = 1;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
  sqlite3_wal_hook(
      database,
      [](void* frames, sqlite3*, const char*, int count) {
        *static_cast<int*>(frames) = count;
        return SQLITE_OK;
      },
      &log_frames);
  return {};
}

Result<void> StoreFile::Impl::check_structure() {
  Statement check;
  if (!check.prepare(database, "PRAGMA quick_check")) return corrupt(sqlite3_errmsg(database));
  if (!check.row()) return corrupt(sqlite3_errmsg(database));
  if (check.text(0) != "ok") return corrupt(check.text(0));
  return {};
}

Result<void> StoreFile::Impl::check_schema() {
  TRY(execute(kSchema));
  const std::int64_t found = TRY(meta("schema", 0));
  if (found > kSchemaVersion) {
    return fail(ErrorCode::Internal,
                fmt::format("{} has schema {}, this program knows {}; use a newer one", path, found,
                            kSchemaVersion));
  }
  return {};
}

Result<void> StoreFile::Impl::prepare() {
  const bool ok = begin.prepare(database, "BEGIN IMMEDIATE") &&
                  commit.prepare(database, "COMMIT") &&
                  put.prepare(database, "INSERT OR REPLACE INTO objects VALUES(?,?,?,?)") &&
                  remove.prepare(database, "DELETE FROM objects WHERE key=?") &&
                  append.prepare(database, "INSERT INTO log VALUES(?,?,?,?,?,?,?)") &&
                  forget.prepare(database, "DELETE FROM log WHERE rv=?") &&
                  trim.prepare(database, "DELETE FROM log WHERE rv<=?") &&
                  trim_some.prepare(database, kTrimSome) &&
                  set_meta.prepare(database, "UPDATE meta SET value=max(value,?) WHERE name=?") &&
                  note_floor.prepare(database, kNoteFloor) &&
                  page_count.prepare(database, "PRAGMA page_count") &&
                  free_count.prepare(database, "PRAGMA freelist_count") &&
                  newest_version.prepare(database, "SELECT value FROM meta WHERE name='rv'");
  if (!ok) return broken("preparing");
  return {};
}

Result<std::int64_t> StoreFile::Impl::meta(std::string_view name, std::int64_t otherwise) {
  Statement query;
  if (!query.prepare(database, "SELECT value FROM meta WHERE name=?")) return broken("reading");
  query.bind(1, name);
  if (query.row()) return query.number(0);
  if (!query.done()) return broken("reading");
  return otherwise;
}

Result<api::ObjectPtr> StoreFile::Impl::decode(std::string_view key, Version version,
                                               std::string_view json, std::int64_t sum) const {
  if (sum != checksum(key, version, json)) {
    return corrupt(fmt::format("the checksum of {} at version {} does not match", key, version));
  }
  auto value = json::read(json, kStoredLimits);
  if (!value) return corrupt(fmt::format("{}: {}", key, value.error().message));
  return std::make_shared<const json::Value>(std::move(*value));
}

Result<void> StoreFile::Impl::load() {
  contents.version = static_cast<Version>(TRY(meta("rv", 0)));
  contents.trimmed = static_cast<Version>(TRY(meta("log_floor", 0)));
  contents.log_floor = std::max(contents.trimmed, restored_floor(contents.version));
  std::map<Version, api::ObjectPtr> recent;  // a current object is often the newest in the log too
  Statement log;
  if (!log.prepare(
          database,
          "SELECT rv,key,type,json,prev_rv,time,checksum FROM log WHERE rv>? ORDER BY rv")) {
    return broken("reading");
  }
  log.bind(1, static_cast<std::int64_t>(contents.log_floor));
  while (log.row()) {
    Change change{.version = static_cast<Version>(log.number(0)),
                  .key = std::string(log.text(1)),
                  .type = static_cast<ChangeType>(log.number(2)),
                  .object = nullptr,
                  .previous = static_cast<Version>(log.number(4)),
                  .time = Time(Duration(log.number(5)))};
    change.object = TRY(decode(change.key, change.version, log.text(3), log.number(6)));
    if (change.type != ChangeType::Deleted) recent[change.version] = change.object;
    contents.log.push_back(std::move(change));
  }
  if (!log.done()) return broken("reading");

  Statement objects;
  if (!objects.prepare(database, "SELECT key,rv,json,checksum FROM objects ORDER BY key")) {
    return broken("reading");
  }
  while (objects.row()) {
    Change change{.version = static_cast<Version>(objects.number(1)),
                  .key = std::string(objects.text(0)),
                  .object = nullptr,
                  .time = {}};
    if (change.version > contents.version) {
      return corrupt(fmt::format("{} has version {}, newer than the counter {}", change.key,
                                 change.version, contents.version));
    }
    const auto known = recent.find(change.version);
    if (known != recent.end() &&
        objects.number(3) == checksum(change.key, change.version, objects.text(2))) {
      change.object = known->second;
    } else {
      change.object = TRY(decode(change.key, change.version, objects.text(2), objects.number(3)));
    }
    contents.objects.push_back(std::move(change));
  }
  if (!objects.done()) return broken("reading");
  return {};
}

Version StoreFile::restored_floor(Version newest) {
  return newest > kRestoredLog ? newest - kRestoredLog : 0;
}

StoreFile::StoreFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StoreFile::~StoreFile() = default;

Result<std::unique_ptr<StoreFile>> StoreFile::open(const std::string& path, StoreDisk& disk,
                                                   Use use) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->disk = &disk;
  TRY(impl->open_database());
  TRY(impl->check_schema());
  // Now both files are there. Their names must be as durable as what they hold.
  TRY(disk.sync_folder(impl->folder()));
  TRY(impl->check_structure());
  TRY(impl->prepare());
  TRY(impl->load());
  if (use == Use::Write) {
    impl->reserve.emplace(impl->database, Reserve::sizes(disk.size(impl->folder())));
    impl->reserve->begin();
  }
  return std::unique_ptr<StoreFile>(new StoreFile(std::move(impl)));
}

Contents StoreFile::take_contents() {
  return std::move(impl_->contents);
}

}  // namespace muster::server
