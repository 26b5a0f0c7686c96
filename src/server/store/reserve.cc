#include "server/store/reserve.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace muster::server {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kMebibyte = std::int64_t{1} << 20U;
// The database grows by this much, so that not every commit changes its size.
constexpr std::int64_t kStep = std::int64_t{128} << 10U;

std::int64_t size_of(sqlite3_file* file) {
  sqlite3_int64 bytes = 0;
  if (file == nullptr || file->pMethods == nullptr) return 0;
  return file->pMethods->xFileSize(file, &bytes) == SQLITE_OK ? bytes : 0;
}

// SQLite cuts a file down to a multiple of its chunk, and would give back blocks that it does not
// use at present: the chunk is the whole file.
void keep_size(sqlite3_file* file, std::int64_t bytes) {
  if (file == nullptr || file->pMethods == nullptr || bytes == 0) return;
  int chunk = static_cast<int>(bytes <= std::numeric_limits<int>::max() ? bytes : kMebibyte);
  file->pMethods->xFileControl(file, SQLITE_FCNTL_CHUNK_SIZE, &chunk);
}

// Gives the file blocks up to there.
bool extend(sqlite3_file* file, std::int64_t bytes) {
  if (file == nullptr || file->pMethods == nullptr) return false;
  sqlite3_int64 hint = bytes;
  keep_size(file, bytes);
  return file->pMethods->xFileControl(file, SQLITE_FCNTL_SIZE_HINT, &hint) == SQLITE_OK &&
         size_of(file) >= bytes;
}

// Why it did not get them: whoever makes room for a file that is to grow does not say.
bool is_broken(sqlite3_file* file, std::int64_t bytes, std::int64_t owned) {
  if (file == nullptr || file->pMethods == nullptr) return true;
  const int code = file->pMethods->xWrite(file, "", 1, bytes - 1);
  if (code == SQLITE_OK) file->pMethods->xTruncate(file, owned);
  int why = 0;
  file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &why);
  return code != SQLITE_OK && code != SQLITE_FULL && why != EDQUOT;
}

sqlite3_file* file_of(sqlite3* database, int which) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database, "main", which, static_cast<void*>(&file));
  return file;
}

}  // namespace

Reserve::Sizes Reserve::sizes(std::uint64_t disk) {
  std::int64_t log = 2 * kMebibyte;
  if (disk > 0)
    log = std::clamp(static_cast<std::int64_t>(std::min<std::uint64_t>(disk / 32, 2 * kMebibyte)),
                     kMebibyte / 4, log);
  return {.log_bytes = log, .headroom = log / 4};
}

void Reserve::begin() {
  sqlite3_file* file = file_of(database_, SQLITE_FCNTL_FILE_POINTER);
  owned_ = size_of(file);
  keep_size(file, owned_);
  fill_log();
}

void Reserve::fill_log() {
  sqlite3_file* log = file_of(database_, SQLITE_FCNTL_JOURNAL_POINTER);
  log_whole_ = size_of(log) >= sizes_.log_bytes || extend(log, sizes_.log_bytes);
}

bool Reserve::grow_database(std::int64_t bytes) {
  if (bytes <= owned_) return true;
  sqlite3_file* file = file_of(database_, SQLITE_FCNTL_FILE_POINTER);
  if (extend(file, bytes)) {
    owned_ = bytes;
    return true;
  }
  keep_size(file, owned_);
  broken_ = is_broken(file, bytes, owned_);
  return false;
}

Reserve::Covers Reserve::covers(std::int64_t pages, std::int64_t free) {
  if (!log_whole_) fill_log();
  const std::int64_t needed = pages * kPage;
  const std::int64_t wanted = std::max(needed, (pages - free) * kPage + sizes_.headroom);
  low_ = !grow_database((wanted + kStep - 1) / kStep * kStep);
  if (!low_ || grow_database(needed)) return Covers::Yes;
  return broken_ ? Covers::Broken : Covers::No;
}

}  // namespace muster::server
