#include "agent/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace muster::agent {
namespace {

class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

void fill(SpawnSettings& settings, const ChildOptions& options) {
  ::posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&settings.actions, options.output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.actions, options.output, STDERR_FILENO);
  ::posix_spawn_file_actions_addchdir_np(&settings.actions, options.directory.c_str());
  // We ignore SIGPIPE; it must not.
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &defaults);
  ::posix_spawnattr_setpgroup(&settings.attributes, 0);
  ::posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
}

}  // namespace

Result<Child> Child::spawn(rt::RealLoop& loop, const ChildOptions& options) {
  SpawnSettings settings;
  fill(settings, options);
  std::vector<std::string> words = options.argv;
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, pointers.front(), &settings.actions, &settings.attributes,
                                   pointers.data(), environ);
  if (error != 0) return fail_errno("starting " + words.front(), error);
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) return fail_errno("pidfd of " + words.front());
  return Child(loop, pid, pidfd);
}

Task<Result<int>> Child::wait() {
  CO_TRY(co_await ended_.readable());
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_) co_return fail_errno("waitpid");
  reaped_ = true;
  co_return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Child::signal(int number) const {
  if (!reaped_) ::kill(-pid_, number);
}

}  // namespace muster::agent
