#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace muster::server {

// What the durability test gets wrong on purpose, to see that it would notice. Nobody else does.
enum class Mistake {
  None,
  NoSync,              // synchronous=OFF
  NoFolderSync,        // the names of new files are not synced
  AnswerBeforeCommit,  // a transaction is committed with the next one
  TransactionEach,     // one for each object, not one for all that belong together
  CounterNotStored,    // the newest version is not written down
  ForgetfulScrub,      // the log of writes is wiped without waiting for the disk in between
  CheckpointUnsynced,  // it is wiped although the database was not synced
};

// What a store needs of a file system besides SQLite, and which of SQLite's ways it uses. A test
// has one that loses what was not synced.
class StoreDisk {
 public:
  virtual ~StoreDisk() = default;
  // SQLite's name of how files are read and written; null: the usual.
  [[nodiscard]] virtual const char* vfs() const { return nullptr; }
  // An empty file that only its owner can read, unless it is there.
  virtual Result<void> make_file(const std::string& path);
  // The names in a directory are as durable as what they stand for.
  virtual Result<void> sync_folder(const std::string& folder);
  // How large the file system is; 0: unknown.
  [[nodiscard]] virtual std::uint64_t size(const std::string& folder) const;
  [[nodiscard]] virtual Mistake mistake() const { return Mistake::None; }

  static StoreDisk& real();
};

}  // namespace muster::server
