#include "node/runtime/written_files.h"

#include <fcntl.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/strings.h"
#include "node/linux/beneath.h"
#include "node/linux/files.h"
#include "node/shim/protocol.h"
#include "node/shim/records.h"
#include "node/shim/root/layers.h"
#include "node/shim/root/root.h"

namespace muster::node {

namespace fs = std::filesystem;

namespace {

void count_layer(const Fd& layer, const std::set<std::string>& except, std::int64_t& count) {
  linux::walk_tree(layer, [&](const std::string& path, const struct stat& status) {
    const auto name = std::string_view(path).substr(path.rfind('/') + 1);
    if (S_ISDIR(status.st_mode) && name == "__pycache__") return linux::Visit::Skip;
    const bool file = S_ISREG(status.st_mode) || S_ISLNK(status.st_mode);
    if (file && !except.contains(path)) ++count;
    return count >= kMostCountedFiles ? linux::Visit::Stop : linux::Visit::Enter;
  });
}

bool is_empty(const Fd& directory) {
  bool empty = true;
  linux::walk_tree(directory, [&](const std::string&, const struct stat&) {
    empty = false;
    return linux::Visit::Stop;
  });
  return empty;
}

}  // namespace

std::vector<WrittenLayer> written_layers(const std::string& layers_directory,
                                         const std::string& directory) {
  std::vector<WrittenLayer> written;
  const auto root = linux::open_root(layers_directory);
  if (!root) return written;
  // A link that the container left on the way leads to nothing that it wrote.
  const auto add = [&](const std::string& place, std::optional<std::string> path) {
    auto fd = linux::open_within(root->get(), place, O_RDONLY | O_DIRECTORY, linux::Walk::NoLinks);
    if (fd && !is_empty(*fd)) written.push_back({.fd = std::move(*fd), .path = std::move(path)});
  };
  const std::string upper = shim::kUpperLayer;
  const auto below = (fs::path(directory).relative_path().lexically_normal() / "").string();
  add(upper + "/" + below, below);
  add(std::string(shim::kShownLayer) + "/" + upper, std::nullopt);
  return written;
}

std::int64_t count_files(const std::vector<WrittenLayer>& layers,
                         const std::set<std::string>& except) {
  std::int64_t count = 0;
  for (const auto& layer : layers) {
    std::set<std::string> below;
    for (const auto& path : except) {
      if (layer.path && path.starts_with(*layer.path))
        below.insert(path.substr(layer.path->size()));
    }
    count_layer(layer.fd, below, count);
    if (count >= kMostCountedFiles) break;
  }
  return count;
}

std::set<std::string> mounted_over(const std::string& attempt_directory) {
  std::set<std::string> files;
  const auto bytes = linux::read_file(attempt_directory + "/intent");
  if (!bytes) return files;
  const auto spec = shim::decode<ContainerSpec>(*bytes);
  if (!spec) return files;
  const auto add = [&](const std::string& target) {
    files.insert(fs::path(target).relative_path().lexically_normal().string());
  };
  for (const Mount& mount : spec->mounts) add(mount.target);
  for (const auto& own : {spec->termination_message_path, std::string("/etc/hosts"),
                          std::string("/etc/resolv.conf")}) {
    add(own);
  }
  return files;
}

std::set<std::string> made_for_view(const std::string& layers_directory) {
  std::set<std::string> files;
  const auto text = linux::read_file(layers_directory + "/" + shim::kMadeFile);
  if (!text) return files;
  for (const auto line : split(*text, '\n'))
    if (line.starts_with('/')) files.emplace(line.substr(1));
  return files;
}

void add_disk_use(DiskUses& uses, const std::string& directory, Below below) {
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename();
    if (below == Below::Attempts) name = shim::container_of_layers(name).name;
    if (!name.empty()) uses[name] += linux::disk_use(it->path(), kMostMeasuredFiles);
  }
}

Result<void> remove_layers(const std::string& layers_directory) {
  std::vector<std::string> layers;
  std::error_code error;
  for (fs::directory_iterator it(layers_directory, error), end; !error && it != end;
       it.increment(error)) {
    if (it->symlink_status(error).type() == fs::file_type::directory) layers.push_back(it->path());
  }
  for (const auto& layer : layers) TRY(linux::remove_tree(layer));
  return {};
}

}  // namespace muster::node
