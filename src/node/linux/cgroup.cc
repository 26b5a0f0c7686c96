#include "node/linux/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/strings.h"
#include "node/linux/files.h"
#include "node/linux/turn.h"

namespace muster::node::linux {

namespace {

constexpr std::int64_t kPeriodMicroseconds = 100'000;

struct Mounted {
  std::string memory, cpu, pids, unified;
};

// Where cgroup file systems are mounted: fields of /proc/self/mounts are device, path, type,
// options.
Mounted find_mounted() {
  Mounted found;
  const auto text = read_file("/proc/self/mounts");
  if (!text) return found;
  for (const auto line : split(*text, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() < 4) continue;
    if (fields[2] == "cgroup2") found.unified = fields[1];
    if (fields[2] != "cgroup") continue;
    const auto options = split(fields[3], ',');
    if (std::ranges::find(options, "memory") != options.end()) found.memory = fields[1];
    if (std::ranges::find(options, "cpu") != options.end()) found.cpu = fields[1];
    if (std::ranges::find(options, "pids") != options.end()) found.pids = fields[1];
  }
  return found;
}

// A controller reaches a group's children only when it is switched on in every group above them.
Result<void> pass_controllers_down(const std::string& directory) {
  const auto file = directory + "/cgroup.subtree_control";
  if (write_existing(file, "+cpu +memory +pids")) return {};
  // Not every kernel counts processes; then there is no bound on them.
  return write_existing(file, "+cpu +memory");
}

Result<void> make_group(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return fail_errno("mkdir " + directory);
}

std::int64_t shares_of(std::int64_t milli) {
  return std::clamp<std::int64_t>(milli * 1024 / 1000, 2, 262'144);
}

Result<void> limit_v1(const std::string& memory, const std::string& cpu,
                      const ResourceLimits& limits) {
  if (limits.memory_bytes) {
    TRY(write_existing(memory + "/memory.limit_in_bytes", std::to_string(*limits.memory_bytes)));
  }
  if (limits.cpu_milli) {
    TRY(write_existing(cpu + "/cpu.cfs_period_us", std::to_string(kPeriodMicroseconds)));
    const auto quota = std::max<std::int64_t>(1000, *limits.cpu_milli * kPeriodMicroseconds / 1000);
    TRY(write_existing(cpu + "/cpu.cfs_quota_us", std::to_string(quota)));
  }
  if (limits.cpu_request_milli) {
    TRY(write_existing(cpu + "/cpu.shares", std::to_string(shares_of(*limits.cpu_request_milli))));
  }
  return {};
}

Result<void> limit_v2(const std::string& directory, const ResourceLimits& limits) {
  if (limits.memory_bytes) {
    TRY(write_existing(directory + "/memory.max", std::to_string(*limits.memory_bytes)));
    // A limit that swap can stretch is none; kernels without swap accounting have no such file.
    [[maybe_unused]] const auto swap = write_existing(directory + "/memory.swap.max", "0");
  }
  if (limits.cpu_milli) {
    const auto quota = std::max<std::int64_t>(1000, *limits.cpu_milli * kPeriodMicroseconds / 1000);
    TRY(write_existing(directory + "/cpu.max",
                       std::to_string(quota) + " " + std::to_string(kPeriodMicroseconds)));
  }
  if (limits.cpu_request_milli) {
    // Shares 2…262144 onto weights 1…10000.
    const auto weight = 1 + (shares_of(*limits.cpu_request_milli) - 2) * 9999 / 262'142;
    TRY(write_existing(directory + "/cpu.weight", std::to_string(weight)));
  }
  return {};
}

// One pod cannot take all process numbers of the machine. Best effort: not every kernel counts.
void bound_processes(const std::string& directory) {
  constexpr std::int64_t kMost = 32'768;
  const auto text = read_file("/proc/sys/kernel/pid_max", 64);
  const auto numbers = text ? parse_int(trim(*text)) : std::nullopt;
  const auto bound = std::min(kMost, numbers.value_or(2 * kMost) / 2);
  [[maybe_unused]] const auto bounded =
      write_existing(directory + "/pids.max", std::to_string(bound));
}

std::vector<std::string> groups_below(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) found.push_back(it->path().string());
  }
  return found;
}

void collect(const std::string& directory, std::vector<int>& pids) {
  if (const auto text = read_file(directory + "/cgroup.procs")) {
    for (const auto line : split(*text, '\n')) {
      if (const auto pid = parse_int(line); pid && *pid > 0) pids.push_back(static_cast<int>(*pid));
    }
  }
  for (const auto& group : groups_below(directory)) collect(group, pids);
}

void remove_group(const std::string& directory) {
  if (::rmdir(directory.c_str()) == 0 || errno == ENOENT) return;
  for (const auto& group : groups_below(directory)) remove_group(group);
  ::rmdir(directory.c_str());
}

// One that has groups in it, mostly: asking first would only hold up everybody else who makes or
// removes one, all of which the kernel does one at a time.
void remove_with_groups(const std::string& directory) {
  for (const auto& group : groups_below(directory)) remove_group(group);
  ::rmdir(directory.c_str());
}

std::vector<std::string> all_of(const CgroupRoots& roots) {
  std::vector<std::string> all{roots.memory, roots.cpu, roots.pids};
  std::erase(all, "");
  return all;
}

// Removes muster/<home> and muster itself, unless something is in them.
void remove_empty(const CgroupRoots& roots) {
  for (const auto& directory : all_of(roots)) {
    ::rmdir(directory.c_str());
    ::rmdir(directory.substr(0, directory.rfind('/')).c_str());
  }
}

}  // namespace

std::string own_group(std::string_view text, std::string_view controller) {
  for (const auto line : split(text, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const auto controllers = split(line.substr(first + 1, second - first - 1), ',');
    if (std::ranges::find(controllers, controller) == controllers.end()) continue;
    const auto path = line.substr(second + 1);
    return path == "/" ? "" : std::string(path);
  }
  return {};
}

namespace {

// Below the mounts themselves, which is root's to write, or below what was delegated to us: with
// version 1 the group that we are in, with version 2 the one above it, because one with processes
// in it has no groups with limits.
enum class Below { Mount, Delegated };

CgroupRoots make_v1(const Mounted& mounted, const std::string& home_key, Below below) {
  const auto groups = read_file("/proc/self/cgroup").value_or("");
  const auto place = [&](const std::string& mount, std::string_view controller) {
    const auto own = below == Below::Delegated ? own_group(groups, controller) : "";
    return mount + own + "/muster/" + home_key;
  };
  CgroupRoots roots{.version = CgroupRoots::Version::V1,
                    .memory = place(mounted.memory, "memory"),
                    .cpu = place(mounted.cpu, "cpu")};
  if (!mounted.pids.empty() && make_directories(place(mounted.pids, "pids")))
    roots.pids = place(mounted.pids, "pids");
  if (make_directories(roots.memory) && make_directories(roots.cpu)) return roots;
  remove_empty(roots);
  return {};
}

CgroupRoots make_v2(const Mounted& mounted, const std::string& home_key, Below below) {
  auto base = mounted.unified;
  if (below == Below::Delegated) {
    const auto own = own_group(read_file("/proc/self/cgroup").value_or(""), "");
    base += own.substr(0, own.rfind('/'));
  }
  const auto top = base + "/muster";
  const CgroupRoots roots{.version = CgroupRoots::Version::V2,
                          .memory = top + "/" + home_key,
                          .cpu = top + "/" + home_key};
  if (make_directories(roots.memory) && pass_controllers_down(base) && pass_controllers_down(top) &&
      pass_controllers_down(roots.memory)) {
    return roots;
  }
  remove_empty(roots);
  return {};
}

}  // namespace

CgroupRoots find_cgroups(const std::string& home_key) {
  const auto mounted = find_mounted();
  const bool v1 = !mounted.memory.empty() && !mounted.cpu.empty();
  if (!v1 && mounted.unified.empty()) return {};
  for (const auto below : {Below::Mount, Below::Delegated}) {
    auto roots = v1 ? make_v1(mounted, home_key, below) : make_v2(mounted, home_key, below);
    if (roots.version != CgroupRoots::Version::None) return roots;
  }
  return {};
}

void remove_cgroup_roots(const CgroupRoots& roots) {
  for (const auto& directory : all_of(roots)) remove_group(directory);
  remove_empty(roots);
}

Cgroup::Cgroup(const CgroupRoots& roots, const std::string& relative)
    : version_(roots.version),
      home_(roots.memory),
      memory_(roots.memory + "/" + relative),
      cpu_(roots.cpu + "/" + relative),
      pids_(roots.pids.empty() ? "" : roots.pids + "/" + relative.substr(0, relative.find('/'))),
      of_pod_(relative.find('/') == std::string::npos) {}

std::vector<Cgroup::Directory> Cgroup::directories() const {
  if (version_ == CgroupRoots::Version::None) return {};
  if (version_ == CgroupRoots::Version::V2) return {{.controller = "", .path = memory_}};
  std::vector<Directory> all{{.controller = "memory", .path = memory_},
                             {.controller = "cpu", .path = cpu_}};
  if (!pids_.empty()) all.push_back({.controller = "pids", .path = pids_});
  return all;
}

// A pod's bound on processes is one for all its containers, which have no group of their own there.
std::vector<std::string> Cgroup::own_directories() const {
  std::vector<std::string> own;
  for (auto& [controller, path] : directories()) {
    if (of_pod_ || controller != "pids") own.push_back(std::move(path));
  }
  return own;
}

Result<void> Cgroup::create(const ResourceLimits& limits, Holds holds) {
  if (!exists()) return {};
  const auto turn = await_turn(home_);  // where none is to be had it goes without
  for (const auto& directory : own_directories()) TRY(make_group(directory));
  switch (version_) {
    case CgroupRoots::Version::None:
      return {};
    case CgroupRoots::Version::V1:
      if (holds == Holds::Groups && !pids_.empty()) bound_processes(pids_);
      return limit_v1(memory_, cpu_, limits);
    case CgroupRoots::Version::V2:
      if (holds == Holds::Groups) TRY(pass_controllers_down(memory_));
      bound_processes(memory_);  // of a container as well, which sees only its own
      return limit_v2(memory_, limits);
  }
  return {};
}

Result<CgroupDoor> Cgroup::open() const {
  // v1: "0" to `tasks` moves the calling thread alone, and the kernel then skips the lock for which
  // a write to cgroup.procs waits a grace period (tens of milliseconds).
  const char* file = version_ == CgroupRoots::Version::V1 ? "/tasks" : "/cgroup.procs";
  std::vector<Fd> files;
  for (const auto& [controller, path] : directories()) {
    files.emplace_back(::open((path + file).c_str(), O_WRONLY | O_CLOEXEC));
    if (!files.back().valid()) return fail_errno("open " + path + file);
  }
  return CgroupDoor(std::move(files));
}

Result<void> CgroupDoor::enter() const {
  for (const auto& file : files_) {
    if (::write(file.get(), "0", 1) != 1) return fail_errno("enter a cgroup");
  }
  return {};
}

std::vector<int> Cgroup::processes() const {
  std::vector<int> pids;
  if (version_ != CgroupRoots::Version::None) collect(memory_, pids);
  return pids;
}

bool Cgroup::kill() const {
  if (version_ == CgroupRoots::Version::V2 && write_existing(memory_ + "/cgroup.kill", "1")) {
    return processes().empty();
  }
  const auto pids = processes();
  for (const int pid : pids) ::kill(pid, SIGKILL);
  return pids.empty();
}

int Cgroup::out_of_memory_kills() const {
  if (version_ == CgroupRoots::Version::None) return 0;
  const auto file = version_ == CgroupRoots::Version::V1 ? "/memory.oom_control" : "/memory.events";
  const auto text = read_file(memory_ + file);
  if (!text) return 0;
  for (const auto line : split(*text, '\n')) {
    if (!line.starts_with("oom_kill ")) continue;
    return static_cast<int>(parse_int(line.substr(9)).value_or(0));
  }
  return 0;
}

void Cgroup::remove() const {
  for (const auto& directory : own_directories()) {
    if (of_pod_ && directory != pids_) {
      remove_with_groups(directory);
    } else {
      remove_group(directory);
    }
  }
}

}  // namespace muster::node::linux
