#include "node/volumes/group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "base/fd.h"

namespace muster::node {

namespace {

constexpr mode_t kMayRead = 0440;
constexpr mode_t kMayWrite = 02770;  // new files in it get its group

std::optional<gid_t> group_of(const json::Value& pod) {
  const auto& group = pod["spec"]["securityContext"]["fsGroup"];
  if (!group.is_int()) return std::nullopt;
  return static_cast<gid_t>(group.as_int());
}

}  // namespace

void give_to_group(Payload& payload, const json::Value& pod) {
  const auto group = group_of(pod);
  if (!group) return;
  for (auto& [path, file] : payload) {
    file.group = group;
    file.mode |= kMayRead;
  }
}

Result<void> give_to_group(const VolumeSource& made, const json::Value& volume,
                           const json::Value& pod) {
  const auto group = group_of(pod);
  if (!group || !volume["emptyDir"].is_object() || made.tmpfs) return {};
  const Fd directory(::open(made.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info{};
  if (!directory.valid() || ::fstat(directory.get(), &info) != 0)
    return fail_errno("open " + made.path);
  if (info.st_gid == *group && (info.st_mode & kMayWrite) == kMayWrite) return {};
  if (::fchown(directory.get(), static_cast<uid_t>(-1), *group) != 0)
    return fail_errno("giving " + made.path + " to fsGroup");
  if (::fchmod(directory.get(), (info.st_mode & 07777U) | kMayWrite) != 0)
    return fail_errno("chmod " + made.path);
  return {};
}

}  // namespace muster::node
