#include "base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/spawn_settings.h"

extern char** environ;

namespace muster {
namespace {

constexpr int kFirstHanded = 3;

}  // namespace

Result<int> spawn_apart(const SpawnApart& what) {
  SpawnSettings spawning;
  ::posix_spawn_file_actions_addopen(&spawning.files, 0, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&spawning.files, 0, 1);
  ::posix_spawn_file_actions_adddup2(&spawning.files, 0, 2);
  const int end = kFirstHanded + static_cast<int>(what.handed.size());
  std::vector<Fd> high;  // away from the numbers that they shall have
  for (const int fd : what.handed) {
    high.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, end));
    const int number = kFirstHanded + static_cast<int>(high.size()) - 1;
    ::posix_spawn_file_actions_adddup2(&spawning.files, high.back().get(), number);
  }
  // What our own caller left open is nobody else's: its reader would wait for this process's end.
  ::posix_spawn_file_actions_addclosefrom_np(&spawning.files, end);
  // Nor does it keep the directory that somebody happened to stand in.
  ::posix_spawn_file_actions_addchdir_np(&spawning.files, "/");
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&spawning.attributes, &none);
  ::posix_spawnattr_setsigdefault(&spawning.attributes, &all);
  ::posix_spawnattr_setflags(&spawning.attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  auto words = what.words;
  auto environment = what.environment;
  int pid = 0;
  const int error = ::posix_spawn(&pid, what.program.c_str(), &spawning.files, &spawning.attributes,
                                  spawn_words(words).data(), spawn_words(environment).data());
  if (error != 0) return fail_errno("start " + what.program, error);
  return pid;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) out.emplace_back(*one);
  return out;
}

}  // namespace muster
