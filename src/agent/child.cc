#include "agent/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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
  if (options.input == kNoInput) {
    ::posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  } else {
    ::posix_spawn_file_actions_adddup2(&settings.actions, options.input, STDIN_FILENO);
  }
  ::posix_spawn_file_actions_adddup2(&settings.actions, options.output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.actions, options.error, STDERR_FILENO);
  if (!options.directory.empty())
    ::posix_spawn_file_actions_addchdir_np(&settings.actions, options.directory.c_str());
  // Only who has the terminal can hand it on.
  if (options.placement == Placement::Foreground && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp())
    ::posix_spawn_file_actions_addtcsetpgrp_np(&settings.actions, STDIN_FILENO);
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

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
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
      ::posix_spawnp(&pid, words.front().c_str(), &settings.actions, &settings.attributes,
                     pointers_to(words).data(), pointers_to(variables).data());
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
