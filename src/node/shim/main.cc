// muster-shim: one process a pod. It sets the pod up, is the parent of its containers, holds their
// pipes and writes their logs and exit codes, whether Muster is there or not.
//
//   muster-shim nursery HOME_KEY ROOM     forks a shim for each birth (nursery.h)
//   muster-shim POD_DIRECTORY             is one: how Musters without a nursery start it, with the
//                                         lock on the directory at descriptor 3 and at 4 what takes
//                                         the answer
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "node/linux/files.h"
#include "node/linux/process.h"
#include "node/linux/shim_groups.h"
#include "node/shim/nursery.h"
#include "node/shim/pod.h"
#include "node/shim/root/root.h"
#include "node/shim/server.h"

namespace muster::node::shim {
namespace {

constexpr int kReadyDescriptor = 4;
constexpr const char* kName = "muster-shim";

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

Result<Server> prepare(Birth& birth) {
  if (::chdir(birth.directory.c_str()) != 0) return fail_errno("chdir " + birth.directory);
  auto record = TRY(decode<SandboxRecord>(TRY(linux::read_file("sandbox"))));
  auto signals = TRY(block_signals());
  TRY(linux::replace_file("./shim", encode(linux::identity_of(::getpid()))));
  auto pod = TRY(Pod::set_up(std::move(record), std::move(birth.empty)));
  ServiceTable services;
  if (!pod.record().spec.host_network)
    TRY(services.replace(birth.rules, pod.record().service_range));
  auto listener = TRY(listen_here());
  return Server(std::move(pod), std::move(services), birth.directory, std::move(listener),
                std::move(signals));
}

int live(Birth birth) {
  auto server = prepare(birth);
  if (!server) {
    tell_outcome(birth.ready, fail(server.error()));
    return 1;
  }
  tell_outcome(birth.ready, {});
  server->run();
  return 0;
}

// How a shim and the nursery begin. Descriptors from the first one on are nobody's.
void settle_process(const char* name, unsigned first_closed) {
  ::prctl(PR_SET_NAME, name, 0, 0, 0);
  ::close_range(first_closed, ~0U, 0);
  ::umask(022);
  [[maybe_unused]] const auto spared = linux::write_existing("/proc/self/oom_score_adj", "-999");
}

Result<Fd> make_alone(const std::string& directory) {
  const auto record = TRY(decode<SandboxRecord>(TRY(linux::read_file(directory + "/sandbox"))));
  // Before there is anything that the end of Muster's own cgroup could take with it. The home's
  // groups are called by its key.
  if (const auto& group = record.cgroups.memory; !group.empty())
    linux::leave_service_groups(group.substr(group.rfind('/') + 1));
  return make_empty_namespace();
}

int live_alone(const std::string& directory) {
  settle_process(kName, kReadyDescriptor + 1);
  ::fcntl(kLockDescriptor, F_SETFD, FD_CLOEXEC);
  ::fcntl(kReadyDescriptor, F_SETFD, FD_CLOEXEC);
  Birth birth{.directory = directory, .lock = Fd(kLockDescriptor), .ready = Fd(kReadyDescriptor)};
  auto empty = make_alone(directory);
  if (!empty) {
    tell_outcome(birth.ready, fail(empty.error()));
    return 1;
  }
  birth.empty = std::move(*empty);
  return live(std::move(birth));
}

// The kernel shows our words as they are where it put them, one behind the other.
void show_as_shim(std::span<char*> words, const std::string& directory) {
  ::prctl(PR_SET_NAME, kName, 0, 0, 0);
  char* const begin = words.front();
  char* const end = words.back() + std::strlen(words.back());
  const auto room = static_cast<std::size_t>(end - begin);
  std::string shown = kName;
  shown += '\0';
  shown += directory;
  shown.resize(room);
  std::ranges::copy(shown, begin);
}

int be_nursery(std::span<char*> words) {
  settle_process("muster-nursery", kBirthsDescriptor + 1);
  ::fcntl(kBirthsDescriptor, F_SETFD, FD_CLOEXEC);
  // Shims are where the end of Muster's own cgroup does not take them with it.
  linux::leave_service_groups(words[2]);
  auto birth = tend(Fd(kBirthsDescriptor));
  if (!birth) return 1;
  if (!*birth) return 0;
  show_as_shim(words, (*birth)->directory);
  return live(std::move(**birth));
}

}  // namespace
}  // namespace muster::node::shim

int main(int argc, char** argv) {
  const std::span words(argv, static_cast<std::size_t>(argc));
  if (words.size() == 4 && words[1] == std::string_view("nursery"))
    return muster::node::shim::be_nursery(words);
  return words.size() == 2 ? muster::node::shim::live_alone(words[1]) : 2;
}
