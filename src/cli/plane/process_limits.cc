#include "cli/plane/process_limits.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/limits.h"
#include "base/memory.h"

namespace muster::cli {

std::uint64_t prepare_to_serve() {
  give_back_large_blocks();
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
  const std::uint64_t before = files.rlim_cur;
  files.rlim_cur = std::max(files.rlim_cur, std::min<rlim_t>(files.rlim_max, kMostOpenFiles));
  // Where it is refused, there are fewer connections.
  [[maybe_unused]] const int result = ::setrlimit(RLIMIT_NOFILE, &files);
  return before;
}

std::size_t connections_of_a_listener() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return limits::kMaxConnections;
  return std::clamp<std::size_t>(files.rlim_cur / 4, 1, limits::kMaxConnections);
}

}  // namespace muster::cli
