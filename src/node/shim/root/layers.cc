#include "node/shim/root/layers.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "base/fd.h"
#include "base/strings.h"
#include "node/linux/files.h"
#include "node/linux/user_namespace.h"
#include "node/shim/root/mounts.h"
#include "node/shim/root/root.h"

namespace muster::node::shim {

namespace {

namespace fs = std::filesystem;

constexpr const char* kMachine = "";  // as a layer: paths below it are the machine's

constexpr std::array kOwn = {"/proc", "/sys", "/dev", "/tmp"};

// A view of the machine without root. The kernel refuses an overlay over mounts that could be
// uncovered by it, and so one of `/`: there is one for every directory that holds none, and those
// that do are made anew, with their entries one by one.
class EachDirectory {
 public:
  EachDirectory(std::vector<std::string> layers, std::vector<std::string> mounted)
      : layers_(std::move(layers)), mounted_(std::move(mounted)) {}

  Result<Layers> show_all() {
    TRY(linux::make_directories("root"));
    if (::mount("upper", "root", nullptr, MS_BIND, nullptr) != 0) return fail_errno("bind root");
    TRY(show_entries(""));
    TRY(tell_made());
    return Layers{.tree = TRY(clone_tree("root", Access::ReadWrite)), .views = std::move(views_)};
  }

 private:
  // What is there under that name: in the uppermost layer that has something.
  std::map<std::string, fs::file_type> entries_of(const std::string& path) const {
    std::map<std::string, fs::file_type> found;
    for (const auto& layer : layers_) {
      std::error_code error;
      const auto directory = layer + (path.empty() ? "/" : path);
      for (fs::directory_iterator it(directory, error), end; !error && it != end;
           it.increment(error)) {
        std::error_code unseen;
        found.emplace(it->path().filename().string(), it->symlink_status(unseen).type());
      }
    }
    return found;
  }

  Result<void> show_entries(const std::string& path) {
    for (const auto& [name, type] : entries_of(path)) {
      const auto below = path + "/" + name;
      if (type == fs::file_type::directory) TRY(show_directory(below));
      if (type == fs::file_type::symlink) TRY(show_link(below));
      if (type == fs::file_type::regular) TRY(show_file(below));
    }
    return {};
  }

  [[nodiscard]] std::string uppermost(const std::string& path) const {
    for (const auto& layer : layers_) {
      struct stat status{};
      if (::lstat((layer + path).c_str(), &status) == 0) return layer + path;
    }
    return path;
  }

  Result<void> show_link(const std::string& path) {
    std::error_code error;
    const auto target = fs::read_symlink(uppermost(path), error);
    if (error) return {};
    if (::symlink(target.c_str(), ("upper" + path).c_str()) != 0)
      return fail_errno("symlink " + path);
    made_ += path + '\n';
    return {};
  }

  // For who wants to know what the container wrote itself.
  [[nodiscard]] Result<void> tell_made() const {
    const Fd file(::open(kMadeFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.valid() ||
        ::write(file.get(), made_.data(), made_.size()) != static_cast<ssize_t>(made_.size()))
      return fail_errno(kMadeFile);
    return {};
  }

  Result<void> show_file(const std::string& path) {
    auto tree = clone_tree(uppermost(path), Access::ReadOnly);
    if (!tree) return {};  // we may not look at it
    const auto place = "root" + path;
    TRY(ensure_empty_file(place));
    made_ += path + '\n';
    views_.push_back(path);
    return attach(*tree, place);
  }

  static Result<void> ensure_empty_file(const std::string& path) {
    if (::mknod(path.c_str(), S_IFREG | 0644, 0) != 0) return fail_errno("create " + path);
    return {};
  }

  Result<void> show_directory(const std::string& path) {
    if (is_made_anew(path)) return {};
    const auto upper = "upper" + path;
    TRY(linux::make_directories(upper));
    struct stat status{};
    if (::stat(uppermost(path).c_str(), &status) == 0)
      ::chmod(upper.c_str(), status.st_mode & 07777);
    const bool is_mount = std::ranges::find(mounted_, path) != mounted_.end();
    if (is_mount) return {};  // comes as a whole
    const bool holds_mounts = std::ranges::any_of(
        mounted_, [&](const std::string& point) { return is_below(point, path); });
    return holds_mounts ? show_entries(path) : lay_directory(path);
  }

  Result<void> lay_directory(const std::string& path) {
    std::vector<std::string> lower;
    for (const auto& layer : layers_) {
      const auto directory = layer + path;
      // One that its owner does not show us is empty.
      if (is_directory(directory) && ::access(directory.c_str(), R_OK | X_OK) == 0)
        lower.push_back(directory);
    }
    if (lower.empty()) return {};
    const auto work = "work/" + std::to_string(views_.size());
    TRY(linux::make_directories(work));
    // A directory of somebody else cannot be copied, with its owner, when the first file is made in
    // it; this one is everybody's, and so ours from the start.
    if (path == "/var" && is_directory("/var/tmp")) {
      TRY(linux::make_directories("upper/var/tmp"));
      ::chmod("upper/var/tmp", 01777);
    }
    views_.push_back(path);
    return attach(TRY(lay_over({.lower = lower, .upper = "upper" + path, .work = work})),
                  "root" + path);
  }

  std::vector<std::string> layers_;
  std::vector<std::string> mounted_;
  std::vector<std::string> views_;
  std::string made_;  // links and files of ours in the upper layer, a line each
};

Result<Layers> show_each(std::vector<std::string> layers) {
  TRY(leave_mounts_of_host());
  const auto mounts = TRY(linux::read_file("/proc/self/mountinfo"));
  return EachDirectory(std::move(layers), mount_points(mounts)).show_all();
}

// The directory may lie on the host's root itself, and the layers of one overlay must not contain
// each other: so the host is an overlay of its own below, which has to be mounted for that.
Result<Layers> lay_over_host(const std::string& directory) {
  TRY(leave_mounts_of_host());
  for (const char* name : {"host-upper", "host-work", "host"}) TRY(linux::make_directories(name));
  TRY(attach(TRY(lay_over({.lower = {"/"}, .upper = "host-upper", .work = "host-work"})), "host"));
  return Layers{
      .tree = TRY(lay_over({.lower = {directory, "host"}, .upper = "upper", .work = "work"}))};
}

}  // namespace

Result<Fd> lay_over(const Overlay& what) {
  std::vector<const char*> flags;
  // Only the machine's root may mark what was deleted with attributes that programs cannot write.
  if (linux::in_user_namespace()) flags.push_back("userxattr");
  // It goes with the container, so it need not reach the disk.
  flags.push_back("volatile");
  if (auto tree = new_overlay(what, flags)) return tree;
  flags.pop_back();
  return new_overlay(what, flags);
}

bool is_made_anew(const std::string& path) {
  return std::ranges::any_of(kOwn, [&](const char* own) { return is_below(path, own); });
}

Result<Layers> make_layers(const RootFilesystem& root, const std::vector<Place>& places,
                           const std::string& places_layer) {
  for (const char* name : {"upper", "work", "tmp"}) TRY(linux::make_directories(name));
  if (::chmod("tmp", 01777) != 0) return fail_errno("chmod tmp");
  const bool alone = linux::in_user_namespace();
  using Kind = RootFilesystem::Kind;
  if (root.kind != Kind::Host && !is_directory(root.directory))
    return fail(ErrorCode::Invalid, "root directory " + root.directory + " is not a directory");
  if (root.kind == Kind::DirectoryOver)
    return alone ? show_each({root.directory, kMachine}) : lay_over_host(root.directory);
  if (root.kind == Kind::Host && alone) return show_each({kMachine});
  Overlay overlay{.upper = "upper", .work = "work"};
  if (root.kind == Kind::Host) {
    if (TRY(make_missing_places(places, places_layer))) overlay.lower.push_back(places_layer);
    overlay.lower.emplace_back("/");
  } else {
    overlay.lower.push_back(root.directory);
  }
  return Layers{.tree = TRY(lay_over(overlay))};
}

}  // namespace muster::node::shim
