// muster-shim: one process a pod. It sets the pod up, is the parent of its containers, holds their
// pipes and writes their logs and exit codes, whether Muster is there or not.
//
//   muster-shim POD_DIRECTORY
//
// Descriptor 3 holds the lock on the pod's directory for as long as we live, 4 takes one answer
// when the pod is ready, or why it is not.
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "node/linux/files.h"
#include "node/linux/process.h"
#include "node/linux/shim_groups.h"
#include "node/shim/pod.h"
#include "node/shim/server.h"

namespace muster::node::shim {
namespace {

constexpr int kLockDescriptor = 3;
constexpr int kReadyDescriptor = 4;

Result<Fd> block_signals() {
  static_cast<void>(::signal(SIGPIPE, SIG_IGN));
  sigset_t set;
  ::sigemptyset(&set);
  // Only SIGKILL ends a shim before its pod: a stray SIGTERM must not take a training run with it.
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return fail_errno("signalfd");
  return fd;
}

// In the pod's directory, which is our working directory: its path may be longer than an address.
Result<Fd> listen_here() {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return fail_errno("socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, "control");
  ::unlink(address.sun_path);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return fail_errno("bind");
  ::chmod(address.sun_path, 0600);
  if (::listen(fd.get(), 512) != 0) return fail_errno("listen");
  return fd;
}

Result<Server> prepare(const std::string& directory) {
  if (::chdir(directory.c_str()) != 0) return fail_errno("chdir " + directory);
  auto record = TRY(decode<SandboxRecord>(TRY(linux::read_file("sandbox"))));
  // Before there is anything that the end of Muster's own cgroup could take with it. The home's
  // groups are called by its key.
  if (const auto& group = record.cgroups.memory; !group.empty())
    linux::leave_service_groups(group.substr(group.rfind('/') + 1));
  auto signals = TRY(block_signals());
  TRY(linux::write_durably("./shim", encode(linux::identity_of(::getpid()))));
  auto pod = TRY(Pod::set_up(std::move(record)));
  auto listener = TRY(listen_here());
  return Server(std::move(pod), directory, std::move(listener), std::move(signals));
}

void report(const Result<void>& outcome) {
  const auto answer = outcome ? Writer().number(0).bytes() : answer_error(outcome.error());
  const auto bytes = frame(with_version(answer));
  [[maybe_unused]] const auto sent = ::write(kReadyDescriptor, bytes.data(), bytes.size());
  ::close(kReadyDescriptor);
}

int run(const std::string& directory) {
  ::close_range(kReadyDescriptor + 1, ~0U, 0);
  ::fcntl(kLockDescriptor, F_SETFD, FD_CLOEXEC);
  ::fcntl(kReadyDescriptor, F_SETFD, FD_CLOEXEC);
  ::umask(022);
  ::prctl(PR_SET_NAME, "muster-shim", 0, 0, 0);
  [[maybe_unused]] const auto spared = linux::write_existing("/proc/self/oom_score_adj", "-999");
  auto server = prepare(directory);
  if (!server) {
    report(fail(server.error()));
    return 1;
  }
  report({});
  server->run();
  return 0;
}

}  // namespace
}  // namespace muster::node::shim

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return muster::node::shim::run(argv[1]);
}
