#include "node/linux/turn.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace muster::node::linux {

Result<Fd> await_turn(const std::string& directory) {
  Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) return fail_errno("open " + directory);
  while (::flock(opened.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return fail_errno("lock " + directory);
  }
  return opened;
}

}  // namespace muster::node::linux
