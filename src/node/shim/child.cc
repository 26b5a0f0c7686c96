#include "node/shim/child.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "base/strings.h"
#include "node/linux/files.h"
#include "node/linux/user_namespace.h"
#include "node/shim/protocol.h"
#include "node/shim/rights/capabilities.h"
#include "node/shim/rights/seccomp.h"
#include "node/shim/root/search.h"
#include "node/shim/session/terminal.h"

namespace muster::node::shim {

namespace {

void send(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void give_up(int status, StartFailure failure, std::string message) {
  send(status, kFailed + encode(FailureRecord{.failure = failure, .message = std::move(message)}));
  ::_exit(127);
}

// Keys of whoever started Muster are not the container's. Where the kernel has no keys, there is
// nothing to leave.
void join_own_keyring() {
  [[maybe_unused]] const auto joined = ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
}

// The shim blocks signals, ignores one and is spared by the OOM killer; programs expect neither.
void reset_process() {
  static_cast<void>(::signal(SIGPIPE, SIG_DFL));
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::umask(022);
  [[maybe_unused]] const auto score = linux::write_existing("/proc/self/oom_score_adj", "0");
  join_own_keyring();
}

Result<void> become_user(const ContainerSpec& spec) {
  TRY(give_up_other_rights(rights_of(spec)));
  const bool groups = !spec.supplementary_groups.empty();
  if (spec.uid || spec.gid || groups) {
    const std::vector<gid_t> list(spec.supplementary_groups.begin(),
                                  spec.supplementary_groups.end());
    const bool already =
        linux::groups_are_fixed() && std::ranges::count(list, 0U) == std::ssize(list);
    if (!already && ::setgroups(list.size(), list.data()) != 0) return fail_errno("setgroups");
  }
  // While we may still do everything: others may set up a filter only with no_new_privs.
  if (spec.seccomp == ContainerSpec::Seccomp::RuntimeDefault && !spec.privileged)
    TRY(refuse_unusual_calls(rights_of(spec)));
  if (spec.gid && ::setresgid(*spec.gid, *spec.gid, *spec.gid) != 0) return fail_errno("setgid");
  if (spec.uid && ::setresuid(*spec.uid, *spec.uid, *spec.uid) != 0) return fail_errno("setuid");
  if (spec.no_new_privileges && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return fail_errno("no_new_privs");
  }
  return {};
}

Result<void> go_to(const std::string& directory) {
  const auto opened = ensure_directory(directory);
  if (!opened) return fail(opened.error().in("working directory"));
  if (::fchdir(opened->get()) != 0) return fail_errno("working directory " + directory);
  return {};
}

using Environment = std::vector<std::pair<std::string, std::string>>;
// Where a program is looked for; nothing: in all of PATH.
using Search = std::optional<std::vector<std::string>>;

Search narrow_search_of(const Launch& launch, const Machine& machine) {
  const auto& environment = launch.spec.env;
  const auto path =
      std::ranges::find(environment, "PATH", &std::pair<std::string, std::string>::first);
  if (path == environment.end()) return std::nullopt;
  return narrow_search(launch.spec.argv.front(), path->second, launch.root, machine);
}

// Comes back only when it failed, with errno.
void execute(const std::vector<std::string>& argv, const Environment& environment,
             const Search& search) {
  std::vector<std::string> variables;
  variables.reserve(environment.size());
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<char*> raw_variables;
  for (auto& variable : variables) raw_variables.push_back(variable.data());
  raw_variables.push_back(nullptr);
  std::vector<char*> raw_arguments;
  for (const auto& argument : argv) raw_arguments.push_back(const_cast<char*>(argument.c_str()));
  raw_arguments.push_back(nullptr);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  std::string path = "PATH=" + muster::join(search.value_or(std::vector<std::string>()), ":");
  std::vector<char*> searched{path.data(), nullptr};
  errno = ENOENT;
  if (search && search->empty()) return;
  ::environ =
      search ? searched.data() : raw_variables.data();  // it looks into the PATH of this one
  ::execvpe(raw_arguments[0], raw_arguments.data(), raw_variables.data());
}

std::string explain_exec(const std::string& program, int error) {
  if (error == ENOENT && program.find('/') == std::string::npos) {
    return "exec: \"" + program + "\": executable file not found in $PATH";
  }
  return "exec: \"" + program + "\": " + std::strerror(error);  // NOLINT(concurrency-mt-unsafe)
}

StartFailure failure_of(int error) {
  return error == ENOENT || error == ENOTDIR ? StartFailure::NotFound : StartFailure::NotExecutable;
}

// -1: a stream of which nothing comes and into which nothing goes.
void set_standard_streams(int input, int output, int error) {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ::dup2(input < 0 ? null.get() : input, STDIN_FILENO);
  ::dup2(output < 0 ? null.get() : output, STDOUT_FILENO);
  ::dup2(error < 0 ? null.get() : error, STDERR_FILENO);
}

// The client tells the size just after the start, and a program that is still starting would miss
// the change: an editor draws 24 lines for ever. So it starts with the size, unless none comes.
void await_size(int terminal) {
  constexpr auto kPatience = std::chrono::milliseconds(500);
  pollfd told{.fd = terminal, .events = POLLIN, .revents = 0};  // shut down by the shim
  ::poll(&told, 1, static_cast<int>(kPatience.count()));
}

// A terminal of the container, whose mounts we have already.
Result<void> take_terminal(const ExecLaunch& launch) {
  const auto terminal = TRY(open_terminal());
  TRY(take_control(terminal.program));
  if (launch.spec.uid) {
    [[maybe_unused]] const auto owned =
        ::fchown(terminal.program.get(), *launch.spec.uid, static_cast<gid_t>(-1));
  }
  send_descriptor(launch.terminal, terminal.control);
  await_size(launch.terminal);
  const int program = terminal.program.get();
  set_standard_streams(program, program, program);
  return {};
}

Result<void> take_streams(const ExecLaunch& launch) {
  if (launch.terminal >= 0) return take_terminal(launch);
  set_standard_streams(launch.input, launch.output, launch.error);
  return {};
}

// Programs ask what kind of terminal they have; the usual one, unless the container says otherwise.
Environment environment_of(const ExecLaunch& launch) {
  auto environment = launch.spec.env;
  const bool told = std::ranges::any_of(
      environment, [](const auto& variable) { return variable.first == "TERM"; });
  if (launch.terminal >= 0 && !told) environment.emplace_back("TERM", "xterm");
  return environment;
}

// Into its cgroup last: directories that the root is made of stay in the kernel's memory, and on
// the container's account they would keep its group alive there, unseen, long after it was removed.
Result<Search> prepare(const Launch& launch) {
  const auto cgroup = TRY(launch.cgroup.open());
  const auto machine = TRY(look_at_machine(launch.root));
  auto search = narrow_search_of(launch, machine);
  TRY(enter_root(launch.root, machine, launch.empty));
  TRY(cgroup.enter());
  if (::unshare(CLONE_NEWCGROUP) != 0) return fail_errno("unshare the cgroup namespace");
  set_standard_streams(-1, launch.standard_output, launch.standard_error);
  TRY(go_to(launch.spec.cwd.empty() ? "/" : launch.spec.cwd));
  return search;
}

}  // namespace

void run_container(const Launch& launch) {
  ::setsid();
  reset_process();
  const auto search = prepare(launch);
  if (!search) give_up(launch.status, StartFailure::Configuration, search.error().message);
  send(launch.status, std::string_view(&kReady, 1));
  char go = 0;
  while (true) {
    const auto got = ::read(launch.release, &go, 1);
    if (got == 1) break;
    if (got < 0 && errno == EINTR) continue;
    ::_exit(127);  // the shim is gone: nobody recorded that we run
  }
  if (const auto user = become_user(launch.spec); !user) {
    give_up(launch.status, StartFailure::NotExecutable, user.error().message);
  }
  execute(launch.spec.argv, launch.spec.env, *search);
  const int error = errno;
  give_up(launch.status, failure_of(error), explain_exec(launch.spec.argv.front(), error));
}

void run_exec(const ExecLaunch& launch) {
  ::setsid();
  reset_process();
  int complaints = launch.terminal >= 0 ? launch.terminal : launch.error;
  const auto refuse = [&](const std::string& why, int code) {
    send(complaints, why + "\n");
    ::_exit(code);
  };
  const auto cgroup = launch.cgroup.open();
  if (!cgroup) refuse(cgroup.error().message, 126);
  if (const auto entered = cgroup->enter(); !entered) refuse(entered.error().message, 126);
  if (::setns(launch.container, CLONE_NEWNS | CLONE_NEWCGROUP) != 0)
    refuse("the container has ended", 126);
  if (const auto streams = take_streams(launch); !streams) refuse(streams.error().message, 126);
  complaints = STDERR_FILENO;
  if (const auto moved = go_to(launch.spec.cwd.empty() ? "/" : launch.spec.cwd); !moved) {
    refuse(moved.error().message, 126);
  }
  if (const auto user = become_user(launch.spec); !user) refuse(user.error().message, 126);
  execute(launch.argv, environment_of(launch), std::nullopt);
  const int error = errno;
  refuse(explain_exec(launch.argv.front(), error),
         failure_of(error) == StartFailure::NotFound ? 127 : 126);
  ::_exit(127);
}

void run_init(const Fd& empty, int ready) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  ::prctl(PR_SET_NAME, "muster-init", 0, 0, 0);
  ::setsid();
  if (const auto alone = enter_empty_root(empty); !alone) {
    send(ready, alone.error().message);
    ::_exit(1);
  }
  send(ready, std::string_view(&kReady, 1));
  ::close_range(0, ~0U, 0);
  // SIGCHLD is blocked, as in the shim: it is waited for.
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  while (true) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    int signal = 0;
    ::sigwait(&child, &signal);
  }
}

}  // namespace muster::node::shim
