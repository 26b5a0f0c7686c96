#include <sys/statvfs.h>

#include "node/linux/cgroup.h"
#include "node/linux/open_files.h"
#include "node/runtime/linux_runtime.h"
#include "node/runtime/written_files.h"
#include "node/shim/records.h"

// What LinuxRuntime says of the disk.
namespace muster::node {

namespace {

Result<DiskSpace> space_at(const std::string& directory) {
  struct statvfs status{};
  if (::statvfs(directory.c_str(), &status) != 0) return fail_errno("statvfs " + directory);
  const auto bytes = [&](fsblkcnt_t blocks) {
    return static_cast<std::int64_t>(blocks) * static_cast<std::int64_t>(status.f_frsize);
  };
  return DiskSpace{.total = bytes(status.f_blocks),
                   .available = bytes(status.f_bavail),
                   .files = static_cast<std::int64_t>(status.f_files),
                   .free_files = static_cast<std::int64_t>(status.f_favail)};
}

// What has a name, and what the processes of containers that run still hold open. An earlier
// Muster's pod has its layers beside its records.
DiskUses measure(const std::string& directory, const std::string& on_disk,
                 const shim::SandboxRecord& record) {
  DiskUses uses;
  if (directory == on_disk) {
    add_disk_use(uses, directory + "/containers", Below::Containers);
  } else {
    add_disk_use(uses, on_disk, Below::Attempts);
  }
  add_disk_use(uses, record.log_directory, Below::Containers);
  for (const auto& container : shim::read_containers(directory, record.log_directory)) {
    if (container.exit) continue;
    const auto name = container.name + "-" + std::to_string(container.attempt);
    const linux::Cgroup cgroup(record.cgroups, record.spec.pod_uid + "/" + name);
    uses[container.name] += linux::nameless_files(cgroup.processes(), on_disk);
  }
  return uses;
}

}  // namespace

Task<Result<DiskSpace>> LinuxRuntime::disk_space() {
  co_return co_await off_loop([pods = options_.home + "/pods"] { return space_at(pods); });
}

Task<std::map<std::string, linux::DiskUse>> LinuxRuntime::disk_use(std::string pod_uid) {
  const auto known = pods_.find(pod_uid);
  if (known == pods_.end() || known->second.unknown) co_return DiskUses{};
  const auto measured = co_await off_loop([directory = pod_directory(pod_uid),
                                           on_disk = options_.home + "/pods/" + pod_uid,
                                           record = known->second.record] {
    return Result<DiskUses>(measure(directory, on_disk, record));
  });
  co_return measured.value_or(DiskUses{});
}

Task<Result<void>> LinuxRuntime::discard_written(std::string pod_uid, std::string name,
                                                 int attempt) {
  if (!pods_.contains(pod_uid)) co_return Result<void>{};
  co_return co_await off_loop(
      [layers = layers_of(pod_uid, {name, attempt})] { return remove_layers(layers); });
}

}  // namespace muster::node
