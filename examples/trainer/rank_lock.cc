#include "trainer/rank_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <system_error>

#include <fmt/core.h>

namespace muster::trainer {
namespace {

// One write to a file opened for appending, so that lines of several processes do not mix.
Result<void> record_contention(const std::filesystem::path& path, const std::string& node_id) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  const std::string line = fmt::format("{} pid {}\n", node_id, ::getpid());
  if (!file.is_open() || ::write(file.number(), line.data(), line.size()) < 0) {
    return system_failure("--lock-dir: cannot write " + path.string(), errno);
  }
  return {};
}

}  // namespace

Result<RankLock> RankLock::take(const std::filesystem::path& directory,
                                const std::string& node_id) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return failure(
        fmt::format("--lock-dir: cannot make {}: {}", directory.string(), error.message()));
  }
  const std::filesystem::path path = directory / (node_id + ".lock");
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file.is_open()) {
    return system_failure("--lock-dir: cannot open " + path.string(), errno);
  }
  if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) {
    return RankLock(std::move(file));
  }
  if (errno != EWOULDBLOCK) {
    return system_failure("--lock-dir: cannot lock " + path.string(), errno);
  }
  TRY(record_contention(directory / "contention", node_id));
  return std::unexpected(
      Error{ExitCode::RunningTwice,
            fmt::format("rank is running twice: another process holds {}", path.string())});
}

}  // namespace muster::trainer
