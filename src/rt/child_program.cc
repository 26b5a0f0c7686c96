#include "rt/child_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/spawn_settings.h"

namespace muster::rt {
namespace {

// A child that nobody waited for is killed and waited for.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t pid_;
};

Result<pid_t> start(ChildProgram& program, int output) {
  SpawnSettings settings;
  if (program.input == ChildProgram::Input::None)
    ::posix_spawn_file_actions_addopen(&settings.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&settings.files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&settings.files, STDERR_FILENO + 1);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&settings.attributes, &none);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &all);
  ::posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, program.program.c_str(), &settings.files, &settings.attributes,
                     spawn_words(program.words).data(), spawn_words(program.environment).data());
  if (error == ENOENT) return fail(ErrorCode::NotFound, "no such program");
  if (error != 0) return fail_errno("starting it", error);
  return pid;
}

Task<Result<std::string>> read_all(RealLoop& loop, Fd from, std::size_t most) {
  Descriptor pipe(loop, from.release());
  std::string output;
  std::string chunk(std::size_t{16} << 10U, '\0');
  while (true) {
    const ssize_t count = ::read(pipe.fd(), chunk.data(), chunk.size());
    if (count == 0) co_return output;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) co_return fail_errno("reading what it prints");
    if (count < 0) {
      CO_TRY(co_await pipe.readable());
      continue;
    }
    output.append(chunk, 0, static_cast<std::size_t>(count));
    if (output.size() > most) {
      co_return fail(ErrorCode::TooLarge, fmt::format("it prints more than {} bytes", most));
    }
  }
}

}  // namespace

Task<Result<ChildAnswer>> run_child(RealLoop& loop, ChildProgram program) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) co_return fail_errno("pipe");
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  Child child(CO_TRY(start(program, theirs.get())));
  theirs = Fd();
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, child.pid(), 0));
  if (process < 0) co_return fail_errno("pidfd_open");
  Descriptor ended(loop, process);
  ChildAnswer answer;
  answer.output = CO_TRY(co_await read_all(loop, std::move(ours), program.most_output));
  CO_TRY(co_await ended.readable());
  answer.exit_code = child.wait();
  co_return answer;
}

}  // namespace muster::rt
