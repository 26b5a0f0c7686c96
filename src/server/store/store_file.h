#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "server/store/change.h"
#include "server/store/store_disk.h"

namespace muster::server {

// Whether the disk has room for more than what must be written (see Reserve).
enum class Room { Enough, Low };

// The durable half of the store: one SQLite file (WAL, synchronous=FULL) with the current objects
// and a log of recent changes, every value with a checksum. It blocks, so it is called from a
// worker; never by two at a time. InsufficientStorage is an answer: nothing of what was to be
// written is there, and the next call may succeed. After any other error nothing may be written any
// more: the caller stops.
class StoreFile {
 public:
  enum class Use { Write, Look };  // who only looks takes no reserve
  // Opens or creates; checks the file's structure, its schema version and every checksum.
  static Result<std::unique_ptr<StoreFile>> open(const std::string& path,
                                                 StoreDisk& disk = StoreDisk::real(),
                                                 Use use = Use::Write);
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;
  ~StoreFile();

  // What the file held when it was opened; once.
  Contents take_contents();

  // All changes in one transaction; durable on return. Log rows up to `log_floor` go with it.
  Result<Room> commit(const std::vector<Change>& changes, Version log_floor);
  // Bytes of JSON that went into the log of changes since the file was opened. Between two calls.
  [[nodiscard]] std::int64_t logged_bytes() const;
  // Whether there is room again, and tries to make some. Writes nothing that anybody would miss.
  Result<Room> look_for_room();
  // Everything is in the database, and nothing readable in the log of writes.
  Result<void> tidy();

  // Up to where no start reads the log of a file whose newest change is `newest`.
  static Version restored_floor(Version newest);

 private:
  struct Impl;
  explicit StoreFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::server
