#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace muster::node {

// Reads the log of one container from its beginning, the older half (PATH.1) first, and notices
// when it is rotated meanwhile. Holds no descriptor between two reads: one process can read
// thousands of them side by side.
class LogFile {
 public:
  explicit LogFile(std::string path) : path_(std::move(path)) {}

  // Begins at the last lines instead; 0: at the present end. Only before the first read.
  Result<void> seek_tail(std::size_t lines);
  // The next bytes, not more than that; none: there are no more at present.
  Result<std::string> read(std::size_t most);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  // What tells a file from its successors: numbers of inodes are used again, and a first line says
  // to the nanosecond when it was written.
  struct Identity {
    ino_t inode = 0;
    std::string head;
  };

  [[nodiscard]] bool has_more(const std::string& path) const;
  [[nodiscard]] bool is_current(int file) const;
  Result<Fd> open_current();
  Result<Fd> begin_at(const std::string& path, std::uint64_t offset);
  Result<Fd> begin();

  std::string path_;
  Identity current_;  // the file that is being read; inode 0: none yet
  bool in_older_ = false;
  std::uint64_t offset_ = 0;
};

}  // namespace muster::node
