#include "trainer/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include <fmt/core.h>

#include "trainer/descriptor.h"

namespace muster::trainer {
namespace {

Result<void> write_all(const Descriptor& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return system_failure("cannot write " + path, errno);
    }
    bytes.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> sync(const Descriptor& file, const std::string& path) {
  if (::fsync(file.number()) != 0) {
    return system_failure("cannot flush " + path + " to disk", errno);
  }
  return {};
}

}  // namespace

Result<void> write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  const std::string partial = path.string() + std::string(kPartialSuffix);
  const Descriptor file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.is_open()) {
    return system_failure("cannot create " + partial, errno);
  }
  TRY(write_all(file, bytes, partial));
  // Before the rename: otherwise a crash could leave the final name with contents that never
  // reached the disk.
  TRY(sync(file, partial));
  if (std::rename(partial.c_str(), path.c_str()) != 0) {
    return system_failure("cannot rename " + partial + " to " + path.string(), errno);
  }
  // The rename itself is an entry of the directory, durable only when that is.
  const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
  const Descriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) {
    return system_failure("cannot open directory " + parent, errno);
  }
  return sync(directory, parent);
}

Result<std::string> read_whole(const std::filesystem::path& path, std::size_t most) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    return system_failure("cannot open " + path.string(), errno);
  }
  struct stat facts = {};
  if (::fstat(file.number(), &facts) != 0) {
    return system_failure("cannot stat " + path.string(), errno);
  }
  if (!S_ISREG(facts.st_mode)) {
    return failure(path.string() + " is not a regular file");
  }
  if (static_cast<std::size_t>(facts.st_size) > most) {
    return failure(
        fmt::format("{} has {} bytes; at most {} are read", path.string(), facts.st_size, most));
  }
  std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.number(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno != EINTR) {
      return system_failure("cannot read " + path.string(), errno);
    }
    if (got == 0) {
      break;  // cut short since fstat(): the caller's own checks will say so
    }
    filled += got < 0 ? 0 : static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace muster::trainer
