#include "agent/child.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/spawn_settings.h"

namespace muster::agent {
namespace {

void fill(SpawnSettings& settings, const ChildOptions& options) {
  if (options.input == kNoInput) {
    ::posix_spawn_file_actions_addopen(&settings.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  } else {
    ::posix_spawn_file_actions_adddup2(&settings.files, options.input, STDIN_FILENO);
  }
  ::posix_spawn_file_actions_adddup2(&settings.files, options.output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.files, options.error, STDERR_FILENO);
  if (!options.directory.empty())
    ::posix_spawn_file_actions_addchdir_np(&settings.files, options.directory.c_str());
  // Only who has the terminal can hand it on.
  if (options.placement == Placement::Foreground && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp())
    ::posix_spawn_file_actions_addtcsetpgrp_np(&settings.files, STDIN_FILENO);
  // We ignore SIGPIPE; it must not.
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &defaults);
  ::posix_spawnattr_setpgroup(&settings.attributes, 0);
  int flags = POSIX_SPAWN_SETSIGDEF;
  if (options.placement == Placement::Session) {
    flags |= POSIX_SPAWN_SETSID;
  } else if (options.placement != Placement::Beside) {
    flags |= POSIX_SPAWN_SETPGROUP;
  }
  ::posix_spawnattr_setflags(&settings.attributes, static_cast<short>(flags));
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all = more;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const bool replaced =
        std::ranges::any_of(more, [&](const auto& one) { return name_of(one) == name_of(*entry); });
    if (!replaced) all.emplace_back(*entry);
  }
  return all;
}

std::unexpected<Error> cannot_start(const std::string& program, int error) {
  auto failure = fail_errno("starting " + program, error);
  if (error == ENOENT || error == ENOTDIR) failure.error().code = ErrorCode::NotFound;
  if (error == EACCES || error == ENOEXEC) failure.error().code = ErrorCode::Forbidden;
  return failure;
}

}  // namespace

Result<Child> Child::spawn(Reaper& reaper, const ChildOptions& options) {
  SpawnSettings settings;
  fill(settings, options);
  auto words = options.argv;
  auto variables = environment_with(options.more_environment);
  pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, words.front().c_str(), &settings.files, &settings.attributes,
                     spawn_words(words).data(), spawn_words(variables).data());
  if (error != 0) return cannot_start(words.front(), error);
  const bool whole_group =
      options.placement == Placement::Group || options.placement == Placement::Session;
  return Child(pid, whole_group, reaper.expect(pid));
}

Task<Result<int>> Child::wait() {
  const auto end = end_;
  CO_TRY(co_await end->known.wait());
  co_return *end->code;
}

void Child::signal(int number) const {
  if (!end_->code) ::kill(whole_group_ ? -pid_ : pid_, number);
}

}  // namespace muster::agent
