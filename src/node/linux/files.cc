#include "node/linux/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/fd.h"

namespace muster::node::shim {

namespace {

Result<void> write_whole(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("write " + path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::vector<std::string> entries_of(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

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

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return fail_errno("open " + path);
  std::string out;
  char chunk[16384];
  while (out.size() < limit) {
    const auto got = ::read(fd.get(), chunk, std::min(sizeof chunk, limit - out.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("read " + path);
    if (got == 0) break;
    out.append(chunk, static_cast<std::size_t>(got));
  }
  return out;
}

Result<void> write_existing(const std::string& path, std::string_view text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return fail_errno("open " + path);
  return write_whole(fd.get(), text, path);
}

Result<void> write_durably(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".new";
  {
    const Fd fd(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid()) return fail_errno("open " + temporary);
    TRY(write_whole(fd.get(), bytes, temporary));
    if (::fdatasync(fd.get()) != 0) return fail_errno("sync " + temporary);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail_errno("rename " + temporary);
  const Fd directory(
      ::open(path.substr(0, path.rfind('/')).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid() || ::fsync(directory.get()) != 0)
    return fail_errno("sync the directory of " + path);
  return {};
}

Result<void> make_directories(const std::string& path, unsigned mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT) return fail_errno("mkdir " + path);
  const auto slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return fail_errno("mkdir " + path, ENOENT);
  TRY(make_directories(path.substr(0, slash), mode));
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return fail_errno("mkdir " + path);
}

Result<void> remove_tree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return fail_errno("remove " + path, error.value());
  return {};
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
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

Time now() {
  timespec at{};
  static_cast<void>(::clock_gettime(CLOCK_REALTIME, &at));
  return Time(std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec));
}

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.size() > 253 || name == "." || name == "..") return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

std::string container_directory(const std::string& pod_directory, const ContainerId& id) {
  return pod_directory + "/containers/" + id.name + "/" + std::to_string(id.attempt);
}

std::string container_log(const std::string& log_directory, const ContainerId& id) {
  return log_directory + "/" + id.name + "/" + std::to_string(id.attempt) + ".log";
}

std::vector<AdoptedContainer> read_containers(const std::string& pod_directory,
                                              const std::string& log_directory) {
  std::vector<AdoptedContainer> found;
  for (const auto& name : entries_of(pod_directory + "/containers")) {
    for (const auto& number : entries_of(pod_directory + "/containers/" + name)) {
      AdoptedContainer container{.name = name};
      const auto end = number.data() + number.size();
      if (std::from_chars(number.data(), end, container.attempt).ptr != end) continue;
      const ContainerId id{name, container.attempt};
      const auto directory = container_directory(pod_directory, id);
      if (exists(directory + "/failed")) continue;
      const auto bytes = read_file(directory + "/started");
      if (!bytes) continue;
      const auto record = decode<StartRecord>(*bytes);
      if (!record) continue;
      container.start = {.pid = record->process.pid,
                         .started = record->started,
                         .log_path = container_log(log_directory, id)};
      if (const auto exit_bytes = read_file(directory + "/exit")) {
        if (auto exit = decode<ContainerExit>(*exit_bytes)) container.exit = std::move(*exit);
      }
      found.push_back(std::move(container));
    }
  }
  std::ranges::sort(found, {}, [](const auto& c) { return std::pair(c.name, c.attempt); });
  return found;
}

}  // namespace muster::node::shim
