#include "node/runtime/pod_directory.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/strings.h"
#include "node/linux/cgroup.h"
#include "node/linux/files.h"
#include "node/linux/process.h"
#include "node/runtime/unknown_pod.h"
#include "node/shim/nursery.h"
#include "node/shim/records.h"

namespace muster::node {

namespace {

constexpr int kShimEndMilliseconds = 10'000;
// A bury of another thread takes milliseconds; a living shim holds the lock for ever.
constexpr int kLockMilliseconds = 1'000;
constexpr int kKilledExitCode = 137;

Result<void> bury_locked(const std::string& directory, const shim::SandboxRecord& record) {
  // The pod's first process dies with its shim, and all others with it; we only wait for that.
  const linux::Cgroup cgroup(record.cgroups, record.spec.pod_uid);
  for (int i = 0; i < kShimEndMilliseconds && !cgroup.kill(); ++i) ::usleep(1000);
  if (!shim::await_end(directory, kShimEndMilliseconds) || !cgroup.processes().empty())
    return fail(ErrorCode::Timeout, "processes of " + directory + " do not end");
  for (const auto& container : shim::read_containers(directory, record.log_directory)) {
    if (container.exit) continue;
    const ContainerExit lost{.exit_code = kKilledExitCode,
                             .signal = SIGKILL,
                             .unknown = true,
                             .started = container.start.started,
                             .finished = linux::now()};
    const auto place = shim::container_directory(directory, {container.name, container.attempt});
    TRY(linux::write_durably(place + "/exit", shim::encode(lost)));
  }
  cgroup.remove();
  return {};
}

}  // namespace

Result<Fd> lock_pod(const std::string& directory) {
  Fd fd(::open((directory + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return fail_errno("open the lock of " + directory);
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Fd();
    if (errno != EINTR) return fail_errno("lock " + directory);
  }
  return fd;
}

Result<Fd> spawn_shim(Nursery& nursery, const std::string& directory,
                      const shim::SandboxRecord& record, const std::vector<ServiceRule>& rules) {
  TRY(linux::make_directories(directory, 0700));
  const Fd lock = TRY(lock_pod(directory));
  if (!lock.valid()) return Fd();
  // A shim was here and died: its pod ends before a new life begins.
  if (linux::exists(directory + "/shim")) TRY(bury_locked(directory, record));
  TRY(linux::replace_file(directory + "/sandbox", shim::encode(record)));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  Fd ready(ends[0]);
  const Fd write_end(ends[1]);
  ::fcntl(ready.get(), F_SETFL, O_NONBLOCK);
  TRY(nursery.bear(shim::birth_message(directory, rules), lock, write_end));
  return ready;
}

namespace {

// The shim says it itself; one that is not that far was started by whoever wrote the record.
int shim_version_in(const std::string& directory) {
  auto bytes = linux::read_file(directory + "/shim");
  if (!bytes) bytes = linux::read_file(directory + "/sandbox");
  if (!bytes) return shim::kWireVersion;
  std::string_view rest = *bytes;
  return std::min(shim::take_version(rest), shim::kWireVersion);
}

Result<shim::SandboxRecord> read_record(const std::string& directory, const std::string& uid) {
  const auto bytes = TRY(linux::read_file(directory + "/sandbox"));
  auto record = TRY(shim::decode<shim::SandboxRecord>(bytes));
  if (record.spec.pod_uid != uid) {
    return fail(ErrorCode::Parse, "it is of pod \"" + printable(record.spec.pod_uid) + "\"");
  }
  return record;
}

}  // namespace

namespace {

std::vector<std::string> directories_in(const std::string& place) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator it(place, error), end; !error && it != end;
       it.increment(error)) {
    auto name = it->path().filename().string();
    if (!name.starts_with('.') && it->is_directory(error)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

std::optional<FoundPod> read_pod(const std::string& uid, const std::string& directory) {
  FoundPod pod{.uid = uid, .directory = directory, .shim_version = shim_version_in(directory)};
  const auto lock = lock_pod(directory);
  pod.locked = !lock || !lock->valid();  // who cannot look must take it for alive
  auto record = read_record(directory, uid);
  if (!record && !pod.locked) {
    [[maybe_unused]] const auto removed = linux::remove_tree(directory);
    return std::nullopt;
  }
  if (record) {
    pod.record = std::move(*record);
  } else {
    pod.unknown = "its record cannot be read: " + record.error().message;
  }
  return pod;
}

// NAMESPACE_POD_UID
void learn_from_logs(const PodPlaces& places, shim::SandboxRecord& record) {
  for (const auto& name : directories_in(places.logs)) {
    const auto parts = split(name, '_');
    if (parts.size() != 3 || parts[2] != record.spec.pod_uid) continue;
    record.spec.pod_namespace = parts[0];
    record.spec.pod_name = parts[1];
    record.log_directory = places.logs + "/" + name;
  }
}

// The machine went down with it, and memory with the machine. Its attempts were begun: they are put
// on record as started by a process that is gone.
Result<void> recall(const PodPlaces& places, const std::string& uid) {
  shim::SandboxRecord record;
  record.spec.pod_uid = uid;
  learn_from_logs(places, record);
  const auto directory = places.state + "/" + uid;
  for (const auto& layer : directories_in(places.layers + "/" + uid)) {
    const auto container = shim::container_of_layers(layer);
    if (container.name.empty()) continue;
    const auto place = shim::container_directory(directory, container);
    TRY(linux::make_directories(place, 0700));
    const shim::StartRecord began{.started =
                                      linux::changed_at(places.layers + "/" + uid + "/" + layer)};
    TRY(linux::write_durably(place + "/started", shim::encode(began)));
  }
  TRY(linux::make_directories(directory, 0700));
  return linux::write_durably(directory + "/sandbox", shim::encode(record));
}

}  // namespace

std::vector<FoundPod> find_pods(const PodPlaces& places) {
  std::vector<FoundPod> pods;
  for (const auto& uid : directories_in(places.layers)) {
    const auto on_disk = places.layers + "/" + uid;
    const bool earlier = linux::exists(on_disk + "/lock") || linux::exists(on_disk + "/sandbox");
    if (earlier) {
      if (auto pod = read_pod(uid, on_disk)) pods.push_back(std::move(*pod));
    } else if (!linux::exists(places.state + "/" + uid)) {
      [[maybe_unused]] const auto recalled = recall(places, uid);
    }
  }
  for (const auto& uid : directories_in(places.state)) {
    if (auto pod = read_pod(uid, places.state + "/" + uid)) pods.push_back(std::move(*pod));
  }
  return pods;
}

Result<void> bury(const std::string& directory, const shim::SandboxRecord& record) {
  for (int waited = 0; waited < kLockMilliseconds; ++waited) {
    const auto lock = TRY(lock_pod(directory));
    if (lock.valid()) return bury_locked(directory, record);
    ::usleep(1000);  // another of our threads may be at it
  }
  return fail(ErrorCode::Conflict, "the shim of " + directory + " is alive");
}

Result<void> await_shim_end(const std::string& directory) {
  bool killed = false;
  for (int waited = 0;; ++waited) {
    const auto lock = TRY(lock_pod(directory));
    if (lock.valid()) break;
    if (waited >= kShimEndMilliseconds && killed) {
      return fail(ErrorCode::Timeout, "the shim of " + directory + " does not end");
    }
    if (waited >= kShimEndMilliseconds) {
      for (const auto& one : find_shims(directory)) linux::signal_process(one, SIGKILL);
      killed = true;
      waited = 0;
    }
    ::usleep(waited < 20 ? 200 : 1000);
  }
  return {};
}

}  // namespace muster::node
