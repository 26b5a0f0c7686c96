#include "node/disk/verdict.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster::node {

namespace {

// Bytes, or files where those ran out.
std::int64_t measure(const Candidate& pod, const DiskSpace& space) {
  return lacks_files(space) ? pod.use.files : pod.use.bytes - pod.request;
}

// Less than this would help nobody.
std::int64_t least_worth(const DiskSpace& space) {
  return lacks_files(space) ? space.files / 100 : disk_reserve(space) / 16;
}

}  // namespace

linux::DiskUse PodDiskUse::total() const {
  linux::DiskUse out;
  for (const auto& [name, use] : containers) out += use;
  for (const auto& [name, volume] : volumes) {
    if (!volume.in_memory) out += volume.use;
  }
  return out;
}

std::optional<std::string> over_limit(const DiskLimits& limits, const PodDiskUse& use,
                                      std::int64_t share) {
  for (const auto& [name, volume] : use.volumes) {
    const auto limit = limits.volumes.find(name);
    if (limit == limits.volumes.end() || volume.use.bytes <= limit->second) continue;
    return fmt::format("emptyDir volume \"{}\" holds {}, more than its sizeLimit of {}", name,
                       bytes_text(volume.use.bytes), bytes_text(limit->second));
  }
  for (const auto& [name, taken] : use.containers) {
    const auto limit = limits.containers.find(name);
    if (limit == limits.containers.end() || taken.bytes <= limit->second) continue;
    return fmt::format(
        "Container {} wrote {} to its own file system and its log, more than its "
        "limits.ephemeral-storage of {}",
        name, bytes_text(taken.bytes), bytes_text(limit->second));
  }
  const auto total = use.total().bytes;
  if (limits.pod && total > *limits.pod) {
    return fmt::format(
        "The pod wrote {} to the disk of its node, more than the limits.ephemeral-storage of its "
        "containers, {} together",
        bytes_text(total), bytes_text(*limits.pod));
  }
  if (!limits.pod && total > share) {
    return fmt::format(
        "The pod wrote {} to the disk of its node, more than the {} that a pod may take of it; "
        "limits.ephemeral-storage of each container would allow more",
        bytes_text(total), bytes_text(share));
  }
  return std::nullopt;
}

std::optional<Candidate> choose_victim(const std::vector<Candidate>& pods, const DiskSpace& space) {
  const auto most =
      std::ranges::max_element(pods, {}, [&](const Candidate& pod) { return measure(pod, space); });
  if (most == pods.end() || measure(*most, space) < least_worth(space)) return std::nullopt;
  return *most;
}

std::string victim_message(const Candidate& victim, const DiskSpace& space) {
  if (lacks_files(space)) {
    return fmt::format(
        "The disk of the node has room for {} more files only; of its pods this one has the most, "
        "{}",
        space.free_files, victim.use.files);
  }
  return fmt::format(
      "The disk of the node is full: {} of {} are free; of its pods this one took the most beyond "
      "its request of {}, {}",
      bytes_text(space.available), bytes_text(space.total), bytes_text(victim.request),
      bytes_text(victim.use.bytes));
}

}  // namespace muster::node
