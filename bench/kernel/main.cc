// How many pods of `true` a second the kernel alone has room for on this machine: what isolates a
// pod is made by system calls in one small program, with no API, no store, no records, no logs and
// nobody who looks. Each has what ours have: namespaces, a link with an address on a bridge, groups
// for memory, CPU and processes, a first process, an overlay of the machine with file systems of
// its own in it. As with us, what is left of a pod goes when all have run.
//
//   bench-kernel PODS DIRECTORY     prints JSON; the directory is on the disk that counts
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/fd.h"
#include "node/linux/cgroup.h"
#include "node/linux/files.h"
#include "node/linux/netlink.h"

namespace {

using namespace muster;
using namespace muster::node;
using std::chrono::steady_clock;

constexpr std::uint32_t kRange = (10U << 24U) | (77U << 16U);
constexpr const char* kBridge = "bench";
constexpr const char* kGroups = "bench-kernel";
constexpr std::array kMemoryFileSystems = {"/dev", "/sys/firmware", "/mnt"};
constexpr int kBinds = 12;

// What fails in one process ends all of them: we are a group of our own.
void must(const Result<void>& done) {
  if (done) return;
  fmt::print(stderr, "{}\n", done.error().message);
  ::kill(0, SIGKILL);
}

void must(bool done, const char* what) {
  must(done ? Result<void>{} : Result<void>(fail_errno(what)));
}

struct Pipe {
  Pipe() {
    int ends[2];
    must(::pipe(ends) == 0, "pipe");
    from = Fd(ends[0]);
    to = Fd(ends[1]);
  }
  Fd from;
  Fd to;
};

struct Pod {
  Pod(const linux::CgroupRoots& roots, const std::string& place, int index)
      : number(index),
        directory(fmt::format("{}/{}", place, index)),
        group(roots, std::to_string(index)),
        inner(roots, fmt::format("{}/rank", index)) {}

  int number;
  std::string directory;
  linux::Cgroup group;
  linux::Cgroup inner;

  [[nodiscard]] std::uint32_t address() const { return kRange + 2 + static_cast<unsigned>(number); }
};

void make_network(const Pod& pod) {
  auto host = *linux::Netlink::open(NETLINK_ROUTE);
  const auto bridge = linux::link_index(kBridge);
  must(::unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID) == 0, "unshare");
  const Fd own(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  must(linux::create_pair(host, fmt::format("bench{}", pod.number), bridge, own.get(),
                          pod.address()));
  auto inside = *linux::Netlink::open(NETLINK_ROUTE);
  must(linux::join_network(inside, pod.address(), 16, kRange + 1));
}

void change_root() {
  must(::syscall(SYS_pivot_root, ".", ".") == 0, "pivot_root");
  must(::umount2(".", MNT_DETACH) == 0, "umount");
  must(::chdir("/") == 0, "chdir /");
}

void leave_mounts() {
  must(::unshare(CLONE_NEWNS) == 0, "unshare");
  must(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "make / private");
}

[[noreturn]] void run_init() {
  leave_mounts();
  must(::mount("tmpfs", "/proc", "tmpfs", MS_RDONLY, "size=4k") == 0, "an empty root");
  must(::chdir("/proc") == 0, "chdir /proc");
  change_root();
  while (true) ::pause();
}

void make_root(const Pod& pod) {
  leave_mounts();
  must(::chdir(pod.directory.c_str()) == 0, "chdir");
  must(::mount("overlay", "root", "overlay", MS_NODEV,
               "lowerdir=/,upperdir=upper,workdir=work,volatile") == 0,
       "overlay");
  must(::chdir("root") == 0, "chdir root");
  change_root();
  must(::mount("proc", "/proc", "proc", 0, nullptr) == 0, "proc");
  must(::mount("sysfs", "/sys", "sysfs", MS_RDONLY, nullptr) == 0, "sysfs");
  for (const char* place : kMemoryFileSystems)
    must(::mount("tmpfs", place, "tmpfs", 0, "size=1m") == 0, place);
  for (int i = 0; i < kBinds; ++i)
    must(::mount("/usr", "/mnt", nullptr, MS_BIND, nullptr) == 0, "bind");
}

// Everything about a pod, in a process of its own, as our shim is.
[[noreturn]] void keep(Pod pod, const Fd& ended, const Fd& release) {
  for (const char* name : {"", "/upper", "/work", "/tmp", "/root"})
    must(::mkdir((pod.directory + name).c_str(), 0755) == 0, "mkdir");
  must(pod.group.create({}, linux::Cgroup::Holds::Groups));
  must(pod.inner.create({}, linux::Cgroup::Holds::Processes));
  make_network(pod);
  const int init = ::fork();
  if (init == 0) run_init();
  const int rank = ::fork();
  if (rank == 0) {
    auto door = pod.inner.open();
    must(door.has_value(), "groups");
    make_root(pod);
    must(door->enter());
    ::execl("/bin/true", "true", nullptr);
    must(false, "exec");
  }
  int status = 0;
  ::waitpid(rank, &status, 0);
  must(status == 0, "the rank");
  char byte = 0;
  must(::write(ended.get(), &byte, 1) == 1, "write");
  must(::read(release.get(), &byte, 1) == 0, "read");
  ::kill(init, SIGKILL);
  ::waitpid(init, nullptr, 0);
  std::_Exit(0);
}

void await_one(const Fd& ended) {
  char byte = 0;
  must(::read(ended.get(), &byte, 1) == 1, "a pod failed");
}

// So many at a time keep the cores busy and are not in each other's way.
double run(const linux::CgroupRoots& roots, const std::string& place, int pods) {
  const int most = static_cast<int>(std::thread::hardware_concurrency()) * 2;
  Pipe ended;
  Pipe release;
  const auto begun = steady_clock::now();
  for (int i = 0; i < pods; ++i) {
    if (i >= most) await_one(ended.from);
    if (i % linux::kEntriesTogether == 0) linux::move_elsewhere(place);
    Pod pod(roots, place, i);
    const int keeper = ::fork();
    must(keeper >= 0, "fork");
    if (keeper > 0) continue;
    release.to.close();
    ended.from.close();
    keep(std::move(pod), ended.to, release.from);
  }
  ended.to.close();
  for (int i = 0; i < std::min(most, pods); ++i) await_one(ended.from);
  const std::chrono::duration<double> seconds = steady_clock::now() - begun;
  release.to.close();
  while (::wait(nullptr) > 0) {
  }
  return seconds.count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || ::setpgid(0, 0) != 0) return 2;
  const int pods = std::atoi(argv[1]);
  const std::string place = argv[2];
  // The bridge and all links are in a network of our own, which goes with us.
  must(::unshare(CLONE_NEWNET) == 0, "unshare");
  auto netlink = *linux::Netlink::open(NETLINK_ROUTE);
  must(linux::create_bridge(netlink, kBridge));
  must(linux::add_address(netlink, kBridge, kRange + 1, 16));
  must(linux::set_up(netlink, kBridge));
  const auto roots = linux::find_cgroups(kGroups);
  const double seconds = run(roots, place, pods);
  for (int i = 0; i < pods; ++i) Pod(roots, place, i).group.remove();
  linux::remove_cgroup_roots(roots);
  fmt::print("{{\"pods\": {}, \"seconds\": {:.3f}}}\n", pods, seconds);
  return 0;
}
