#include "node/logs/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "node/logs/cri_log.h"

namespace muster::node {

namespace {

// The time of a first line: 2026-11-15T03:04:05.000000006Z.
constexpr std::size_t kHeadBytes = 30;
constexpr std::size_t kWindow = std::size_t{64} << 10U;

std::string older(const std::string& path) {
  return path + ".1";
}

std::string read_at(int file, std::size_t size, std::uint64_t offset) {
  std::string bytes(size, '\0');
  const auto got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

// Where the last lines of a file begin, and how many there are.
struct Tail {
  std::uint64_t offset = 0;
  std::size_t lines = 0;
};

// Looks from the end in growing windows.
Tail tail_of(int file, std::size_t lines) {
  struct stat info{};
  if (::fstat(file, &info) != 0) return {};
  const auto size = static_cast<std::uint64_t>(info.st_size);
  for (std::uint64_t window = kWindow;; window *= 4) {
    const auto begin = size > window ? size - window : 0;
    const std::string bytes = read_at(file, static_cast<std::size_t>(size - begin), begin);
    const auto offset = tail_offset(bytes, lines);
    if (offset > 0) return {.offset = begin + offset, .lines = lines};
    if (begin == 0) return {.offset = 0, .lines = std::min(lines, count_lines(bytes))};
  }
}

}  // namespace

bool LogFile::is_current(int file) const {
  struct stat info{};
  if (::fstat(file, &info) != 0 || info.st_ino != current_.inode) return false;
  return read_at(file, current_.head.size(), 0) == current_.head;
}

Result<Fd> LogFile::begin_at(const std::string& path, std::uint64_t offset) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    if (errno == ENOENT) return file;
    return fail_errno("open " + path);
  }
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return fail_errno("look at " + path);
  current_ = {.inode = info.st_ino, .head = read_at(file.get(), kHeadBytes, 0)};
  in_older_ = path != path_;
  offset_ = offset;
  return file;
}

Result<Fd> LogFile::begin() {
  auto file = TRY(begin_at(older(path_), 0));
  if (file.valid()) return file;
  file = TRY(begin_at(path_, 0));
  // Rotated between the two: what we have is the newer half.
  if (file.valid() && ::access(older(path_).c_str(), F_OK) == 0) return begin_at(older(path_), 0);
  return file;
}

// The file that is being read, wherever it is by now; none when it was not made yet, or rotated
// away twice.
Result<Fd> LogFile::open_current() {
  if (current_.inode == 0) return begin();
  for (const bool second : {false, true}) {
    const std::string path = second ? older(path_) : path_;
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
      if (errno == ENOENT) continue;
      return fail_errno("open " + path);
    }
    if (!is_current(file.get())) continue;
    in_older_ = second;
    if (current_.head.size() < kHeadBytes) current_.head = read_at(file.get(), kHeadBytes, 0);
    return file;
  }
  return begin();
}

// The cheap question first: most reads find nothing new.
bool LogFile::has_more(const std::string& path) const {
  struct stat info{};
  if (current_.inode == 0 || in_older_ || ::stat(path.c_str(), &info) != 0) return true;
  return info.st_ino != current_.inode || static_cast<std::uint64_t>(info.st_size) != offset_;
}

Result<std::string> LogFile::read(std::size_t most) {
  if (!has_more(path_)) return std::string();
  while (true) {
    const Fd file = TRY(open_current());
    if (!file.valid()) return std::string();
    const bool done = in_older_;  // asked before the read: nothing is added to it any more
    std::string bytes(most, '\0');
    const auto got = ::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset_));
    if (got < 0) return fail_errno("read " + path_);
    bytes.resize(static_cast<std::size_t>(got));
    offset_ += bytes.size();
    if (!bytes.empty() || !done) return bytes;
    // While we hold it, nobody else has its number: is it still the older half?
    const Fd next(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    const Fd half(::open(older(path_).c_str(), O_RDONLY | O_CLOEXEC));
    const bool rotated = half.valid() && !is_current(half.get());
    if (!next.valid() && !rotated) return std::string();
    if (!TRY(begin_at(rotated ? older(path_) : path_, 0)).valid()) return std::string();
  }
}

Result<void> LogFile::seek_tail(std::size_t lines) {
  const Fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return {};
  const Tail newer = tail_of(file.get(), lines);
  if (newer.lines < lines) {
    const Fd half(::open(older(path_).c_str(), O_RDONLY | O_CLOEXEC));
    if (half.valid()) {
      TRY(begin_at(older(path_), tail_of(half.get(), lines - newer.lines).offset));
      return {};
    }
  }
  TRY(begin_at(path_, newer.offset));
  return {};
}

}  // namespace muster::node
