#include "node/linux/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "base/fd.h"
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

std::string mounts_of(int pid) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/ns/mnt", error).string();
}

bool kill_all_in(const std::string& mounts) {
  if (mounts.empty() || mounts == mounts_of(::getpid())) return true;
  bool none = true;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end;
       it.increment(error)) {
    const auto pid = parse_int(it->path().filename().string());
    if (!pid || mounts_of(static_cast<int>(*pid)) != mounts) continue;
    none = false;
    ::kill(static_cast<int>(*pid), SIGKILL);
  }
  return none;
}

}  // namespace muster::node::linux
