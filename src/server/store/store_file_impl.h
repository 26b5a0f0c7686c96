#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/reserve.h"
#include "server/store/sqlite.h"
#include "server/store/store_file.h"

namespace muster::server {

std::int64_t checksum(std::string_view key, Version version, std::string_view json);

// The inside of a StoreFile: store_file.cc opens and reads, store_commit.cc writes.
struct StoreFile::Impl {
  std::string path;
  StoreDisk* disk = nullptr;
  Connection connection;  // before the statements: they end first
  sqlite3*& database = connection.handle;
  Contents contents;
  Statement begin, commit, put, remove, append, forget, trim, trim_some, set_meta, note_floor,
      page_count, free_count, newest_version;
  std::optional<Reserve> reserve;  // none for who only looks
  int log_frames = 0;              // in the log of writes, since it began anew
  // Up to where the log of writes holds something, of this time or an earlier one.
  std::int64_t written_end = std::numeric_limits<std::int64_t>::max();
  bool traces = false;
  std::int64_t lot_when_low = 1;
  std::int64_t logged_bytes = 0;
  bool uncommitted = false;  // of Mistake::AnswerBeforeCommit

  [[nodiscard]] std::string folder() const { return path.substr(0, path.rfind('/')); }
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] std::unexpected<Error> broken(std::string_view doing) const;
  [[nodiscard]] std::unexpected<Error> corrupt(std::string_view what) const;
  Result<void> execute(const char* text);

  Result<void> open_database();
  Result<void> check_structure();
  Result<void> check_schema();
  Result<void> prepare();
  Result<std::int64_t> meta(std::string_view name, std::int64_t otherwise);
  Result<void> load();
  Result<api::ObjectPtr> decode(std::string_view key, Version version, std::string_view json,
                                std::int64_t sum) const;

  // One transaction, or nothing.
  enum class History { Keep, Forget };
  Result<void> write(const std::vector<Change>& changes, Version log_floor, History history);
  bool write_change(const Change& change, History history);
  bool write_all(const std::vector<Change>& changes, Version log_floor, History history);
  Result<void> covered();
  Result<void> undo(Error why);
  Result<void> shorten_log_if_low();
  // Copies the log of writes into the database, where it begins anew.
  Result<void> checkpoint();
  Result<void> wipe_log();
};

}  // namespace muster::server
