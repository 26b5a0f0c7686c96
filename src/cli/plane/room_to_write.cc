#include "cli/plane/room_to_write.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"

namespace muster::cli {

bool room_to_write(const std::string& home) {
  // Written, because a quota and a copy-on-write file system say less than they know.
  const std::string text(std::size_t{1} << 20U, '.');
  const std::string path = home + "/room";
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  const bool fits =
      file.valid() &&
      ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file.get()) == 0;
  ::unlink(path.c_str());
  return fits;
}

}  // namespace muster::cli
