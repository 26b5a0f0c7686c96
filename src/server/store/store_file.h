#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "server/store/change.h"

namespace muster::server {

// The durable half of the store: one SQLite file (WAL, synchronous=FULL) with the current objects
// and a log of recent changes, every value with a checksum. It blocks, so it is called from a
// worker; never by two at a time. After an error of commit() nothing may be written any more: the
// caller stops.
class StoreFile {
 public:
  // Opens or creates; checks the file's structure, its schema version and every checksum.
  static Result<std::unique_ptr<StoreFile>> open(const std::string& path);
  StoreFile(const StoreFile&) = delete;
  StoreFile& operator=(const StoreFile&) = delete;
  ~StoreFile();

  // What the file held when it was opened; once.
  Contents take_contents();

  // All changes in one transaction; durable on return. Log rows up to `log_floor` go with it.
  Result<void> commit(const std::vector<Change>& changes, Version log_floor);

  // Up to where no start reads the log of a file whose newest change is `newest`.
  static Version restored_floor(Version newest);

 private:
  struct Impl;
  explicit StoreFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::server
