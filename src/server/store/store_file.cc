#include "server/store/store_file.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <bit>
#include <map>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/strings.h"
#include "json/read.h"
#include "json/write.h"

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

// Ours, and checked when it was written: wider than what a client may send, because escapes make
// text longer and a status may have been merged into a spec.
constexpr json::ReadLimits kStoredLimits{.bytes = limits::kMaxResponseBytes,
                                         .depth = 2 * limits::kMaxDepth,
                                         .nodes = json::kAnswerLimits.nodes};

std::int64_t checksum(std::string_view key, Version version, std::string_view json) {
  const std::uint64_t sum =
      stable_hash(json) ^ std::rotl(stable_hash(key), 1) ^ (version * 0x9e3779b97f4a7c15ULL);
  return std::bit_cast<std::int64_t>(sum);
}

struct Connection {
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { sqlite3_close_v2(handle); }
  sqlite3* handle = nullptr;
};

// A prepared statement. Bound text must outlive the step.
class Statement {
 public:
  Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  bool prepare(sqlite3* database, const char* text) {
    return sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement_,
                              nullptr) == SQLITE_OK;
  }
  Statement& bind(int at, std::string_view text) {
    sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    return *this;
  }
  Statement& bind(int at, std::int64_t number) {
    sqlite3_bind_int64(statement_, at, number);
    return *this;
  }
  // True while there are rows.
  bool row() { return (last_ = sqlite3_step(statement_)) == SQLITE_ROW; }
  // Runs to the end and makes ready for the next use.
  bool run() {
    while (row()) {
    }
    sqlite3_reset(statement_);
    return last_ == SQLITE_DONE;
  }
  [[nodiscard]] bool done() const { return last_ == SQLITE_DONE; }
  [[nodiscard]] std::int64_t number(int column) const {
    return sqlite3_column_int64(statement_, column);
  }
  [[nodiscard]] std::string_view text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return {bytes == nullptr ? "" : bytes,
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int last_ = SQLITE_OK;
};

}  // namespace

struct StoreFile::Impl {
  std::string path;
  Connection connection;  // before the statements: they end first
  sqlite3*& database = connection.handle;
  Contents contents;
  Statement begin, commit, put, remove, append, trim, set_meta;

  [[nodiscard]] std::unexpected<Error> broken(std::string_view doing) const {
    return fail(ErrorCode::Io, fmt::format("{} {}: {}", doing, path, sqlite3_errmsg(database)));
  }
  [[nodiscard]] std::unexpected<Error> corrupt(std::string_view what) const {
    return fail(
        ErrorCode::Internal,
        fmt::format("{} is corrupt: {}; restore it from a backup, or move it away to start empty",
                    path, what));
  }

  Result<void> execute(const char* text) {
    if (sqlite3_exec(database, text, nullptr, nullptr, nullptr) != SQLITE_OK) {
      const int code = sqlite3_errcode(database);
      if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return corrupt(sqlite3_errmsg(database));
      return broken("opening");
    }
    return {};
  }

  Result<void> open_database();
  Result<void> check_structure();
  Result<void> check_schema();
  Result<void> prepare();
  Result<std::int64_t> meta(std::string_view name, std::int64_t otherwise);
  Result<void> load();
  Result<api::ObjectPtr> decode(std::string_view key, Version version, std::string_view json,
                                std::int64_t sum) const;
};

Result<void> StoreFile::Impl::open_database() {
  // SQLite gives its WAL the permissions of the main file, so that one is made first, for us alone.
  const Fd made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!made.valid()) return fail_errno("open " + path);
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX,
                      nullptr) != SQLITE_OK) {
    return broken("opening");
  }
  sqlite3_extended_result_codes(database, 0);
  TRY(execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA trusted_schema=OFF;"));
  // The file's own name must be as durable as what it holds.
  const std::string folder = path.substr(0, path.rfind('/'));
  const Fd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid() || ::fsync(directory.get()) != 0) return fail_errno("sync " + folder);
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
                  trim.prepare(database, "DELETE FROM log WHERE rv<=?") &&
                  set_meta.prepare(database, "UPDATE meta SET value=? WHERE name=?");
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

Result<std::unique_ptr<StoreFile>> StoreFile::open(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  TRY(impl->open_database());
  TRY(impl->check_schema());
  TRY(impl->check_structure());
  TRY(impl->prepare());
  TRY(impl->load());
  return std::unique_ptr<StoreFile>(new StoreFile(std::move(impl)));
}

Contents StoreFile::take_contents() {
  return std::move(impl_->contents);
}

Result<void> StoreFile::commit(const std::vector<Change>& changes, Version log_floor) {
  Impl& to = *impl_;
  if (!to.begin.run()) return to.broken("writing");
  Version newest = 0;
  for (const Change& change : changes) {
    const std::string text = json::write(*change.object);
    const auto version = static_cast<std::int64_t>(change.version);
    const std::int64_t sum = checksum(change.key, change.version, text);
    bool ok = to.append.bind(1, version)
                  .bind(2, change.key)
                  .bind(3, std::int64_t{std::to_underlying(change.type)})
                  .bind(4, text)
                  .bind(5, static_cast<std::int64_t>(change.previous))
                  .bind(6, change.time.time_since_epoch().count())
                  .bind(7, sum)
                  .run();
    if (change.type == ChangeType::Deleted) {
      ok = ok && to.remove.bind(1, change.key).run();
    } else {
      ok = ok && to.put.bind(1, change.key).bind(2, version).bind(3, text).bind(4, sum).run();
    }
    if (!ok) return to.broken("writing");
    newest = change.version;
  }
  bool ok =
      newest == 0 || to.set_meta.bind(1, static_cast<std::int64_t>(newest)).bind(2, "rv").run();
  if (log_floor > 0) {
    ok = ok && to.trim.bind(1, static_cast<std::int64_t>(log_floor)).run() &&
         to.set_meta.bind(1, static_cast<std::int64_t>(log_floor)).bind(2, "log_floor").run();
  }
  if (!ok || !to.commit.run()) return to.broken("writing");
  return {};
}

}  // namespace muster::server
