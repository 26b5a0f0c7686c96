#pragma once

#include <cstdint>

struct sqlite3;

namespace muster::server {

// Blocks that a store's two files own before they need them, so that deletions and what is said of
// pods can be written on a full disk: overwriting takes no new ones. The log of writes (WAL) has
// `log_bytes` from the start and never becomes shorter. The database has what it holds, and
// `headroom` more; a transaction that would take its last blocks is noticed before it is committed,
// so copying the log into the database never meets a full disk.
class Reserve {
 public:
  struct Sizes {
    std::int64_t log_bytes = 0;
    std::int64_t headroom = 0;
  };
  // 2 MiB and a quarter of it; less where that is more than 1/32 of the disk (24 MiB: 768 KiB).
  static Sizes sizes(std::uint64_t disk);

  Reserve(sqlite3* database, Sizes sizes) : database_(database), sizes_(sizes) {}

  // Once, when the log of writes is open.
  void begin();
  // Before a commit: whether the database can hold `pages`, of which `free` are in no use.
  enum class Covers { Yes, No, Broken };  // broken: for another reason than a full disk
  Covers covers(std::int64_t pages, std::int64_t free);
  // Nothing but the reserve is left, or not even that.
  [[nodiscard]] bool low() const { return low_ || !log_whole_; }
  // How long the log of writes may become without new blocks.
  [[nodiscard]] std::int64_t log_bytes() const { return sizes_.log_bytes; }

 private:
  bool grow_database(std::int64_t bytes);
  void fill_log();

  sqlite3* database_;
  Sizes sizes_;
  std::int64_t owned_ = 0;  // bytes of the database file that have blocks
  bool log_whole_ = false;
  bool low_ = false;
  bool broken_ = false;
};

}  // namespace muster::server
