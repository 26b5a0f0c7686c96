#include "node/linux/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "base/strings.h"
#include "node/linux/files.h"

namespace muster::node::linux {

namespace {

// Field 3 (state) and 22 (start time); the name in field 2 may hold anything, its end is the last
// ')'.
bool read_stat(int pid, char& state, std::uint64_t& start_time) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
  if (!text) return false;
  const auto close = text->rfind(')');
  if (close == std::string::npos || close + 2 >= text->size()) return false;
  state = (*text)[close + 2];
  std::size_t at = close + 2;
  for (int field = 3; field < 22; ++field) {
    at = text->find(' ', at);
    if (at == std::string::npos) return false;
    ++at;
  }
  const auto end = text->data() + text->size();
  return std::from_chars(text->data() + at, end, start_time).ec == std::errc();
}

std::string boot_id() {
  auto text = read_file("/proc/sys/kernel/random/boot_id", 64);
  if (!text) return {};
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return *text;
}

std::uint64_t start_time_of(int pid) {
  char state = 0;
  std::uint64_t start_time = 0;
  return read_stat(pid, state, start_time) ? start_time : 0;
}

std::string mounts_file(int pid) {
  return "/proc/" + std::to_string(pid) + "/ns/mnt";
}

bool is_in(int pid, const Fd& mounts) {
  struct stat wanted{};
  struct stat found{};
  return ::fstat(mounts.get(), &wanted) == 0 && ::stat(mounts_file(pid).c_str(), &found) == 0 &&
         wanted.st_dev == found.st_dev && wanted.st_ino == found.st_ino;
}

}  // namespace

ProcessIdentity identity_of(int pid) {
  return {.pid = pid, .start_time = start_time_of(pid), .boot_id = boot_id()};
}

bool is_alive(const ProcessIdentity& identity) {
  char state = 0;
  std::uint64_t start_time = 0;
  return identity.pid > 0 && identity.boot_id == boot_id() &&
         read_stat(identity.pid, state, start_time) && start_time == identity.start_time &&
         state != 'Z' && state != 'X';
}

bool signal_process(const ProcessIdentity& identity, int signal) {
  // The descriptor pins the process before we look at its start time, so the number cannot be
  // reused between the look and the signal.
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, identity.pid, 0U)));
  if (!pidfd.valid() || !is_alive(identity)) return false;
  return ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0U) == 0;
}

Fd mounts_of(int pid) {
  return Fd(::open(mounts_file(pid).c_str(), O_RDONLY | O_CLOEXEC));
}

bool kill_all_in(const Fd& mounts) {
  if (!mounts.valid() || is_in(::getpid(), mounts)) return true;
  bool none = true;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end;
       it.increment(error)) {
    const auto pid = parse_int(it->path().filename().string());
    if (!pid || !is_in(static_cast<int>(*pid), mounts)) continue;
    none = false;
    // Looked at again once the process is pinned: its number may be another's by now.
    const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0U)));
    if (pidfd.valid() && is_in(static_cast<int>(*pid), mounts))
      ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0U);
  }
  return none;
}

}  // namespace muster::node::linux
