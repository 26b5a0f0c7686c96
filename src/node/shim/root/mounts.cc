#include "node/shim/root/mounts.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/strings.h"
#include "node/linux/beneath.h"

// <sys/mount.h> and <linux/mount.h> cannot be included together in Debian 12.
extern "C" int mount(const char*, const char*, const char*, unsigned long, const void*) noexcept;

namespace muster::node::shim {

namespace {

// The kernel writes space, tab, newline and backslash as \ooo.
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 3 >= text.size()) {
      out += text[i];
      continue;
    }
    const auto digit = [&](std::size_t at) { return text[i + at] - '0'; };
    out += static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3));
    i += 3;
  }
  return out;
}

Result<Fd> clone_at(int directory, const char* path, unsigned flags, std::uint64_t restrictions) {
  Fd tree(static_cast<int>(::syscall(SYS_open_tree, directory, path,
                                     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | flags)));
  if (!tree.valid()) return fail_errno(std::string("mount source ") + path);
  mount_attr attributes{};
  attributes.attr_set = restrictions;
  constexpr unsigned long kPrivate = 1UL << 18U;  // MS_PRIVATE
  attributes.propagation = kPrivate;
  if (::syscall(SYS_mount_setattr, tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                sizeof attributes) != 0) {
    return fail_errno(std::string("mount attributes of ") + path);
  }
  return tree;
}

std::uint64_t read_only_if(Access access) {
  return access == Access::ReadOnly ? MOUNT_ATTR_RDONLY : 0;
}

}  // namespace

Result<Fd> clone_tree(const std::string& path, Access access) {
  return clone_at(AT_FDCWD, path.c_str(), 0, MOUNT_ATTR_NODEV | read_only_if(access));
}

Result<Fd> clone_tree(const Fd& opened, Access access) {
  return clone_at(opened.get(), "", AT_EMPTY_PATH, MOUNT_ATTR_NODEV | read_only_if(access));
}

Result<Fd> clone_device(const std::string& path) {
  return clone_at(AT_FDCWD, path.c_str(), 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
}

namespace {

// A file system about to be made: options first, then its one mount.
class NewTree {
 public:
  static Result<NewTree> begin(const char* type) {
    NewTree tree(type, Fd(static_cast<int>(::syscall(SYS_fsopen, type, FSOPEN_CLOEXEC))));
    if (!tree.context_.valid()) return tree.failed();
    TRY(tree.set("source", type));
    return tree;
  }
  Result<void> set(const char* option, const std::string& value) {
    return configure(FSCONFIG_SET_STRING, option, value.c_str());
  }
  Result<void> set(const char* flag) { return configure(FSCONFIG_SET_FLAG, flag, nullptr); }
  Result<Fd> mount(std::uint64_t attributes) {
    TRY(configure(FSCONFIG_CMD_CREATE, nullptr, nullptr));
    Fd tree(static_cast<int>(::syscall(SYS_fsmount, context_.get(), FSMOUNT_CLOEXEC,
                                       static_cast<unsigned>(attributes))));
    if (!tree.valid()) return failed();
    return tree;
  }

 private:
  NewTree(const char* type, Fd context) : type_(type), context_(std::move(context)) {}
  Result<void> configure(unsigned command, const char* key, const char* value) {
    if (::syscall(SYS_fsconfig, context_.get(), command, key, value, 0) == 0) return {};
    return failed();
  }
  [[nodiscard]] std::unexpected<Error> failed() const { return fail_errno("a new " + type_); }

  std::string type_;
  Fd context_;
};

// Options are short, and ',' ':' and '\\' mean something in them: a directory with a long or an odd
// path is named by a descriptor.
class OverlayPaths {
 public:
  Result<std::string> name(const std::string& path) {
    constexpr std::size_t kShort = 32;
    if (path.size() <= kShort && path.find_first_of(",:\\") == std::string::npos) return path;
    const auto& opened =
        opened_.emplace_back(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!opened.valid()) return fail_errno("open " + path);
    return linux::descriptor_path(opened.get());
  }
  Result<std::string> names(const std::vector<std::string>& paths) {
    std::vector<std::string> all;
    for (const auto& path : paths) all.push_back(TRY(name(path)));
    return muster::join(all, ":");
  }

 private:
  std::vector<Fd> opened_;
};

}  // namespace

Result<Fd> new_tree(const char* type, Access access) {
  auto tree = TRY(NewTree::begin(type));
  return tree.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC |
                    read_only_if(access));
}

Result<Fd> new_overlay(const Overlay& what, const std::vector<const char*>& flags) {
  OverlayPaths paths;
  auto tree = TRY(NewTree::begin("overlay"));
  TRY(tree.set("lowerdir", TRY(paths.names(what.lower))));
  TRY(tree.set("upperdir", TRY(paths.name(what.upper))));
  TRY(tree.set("workdir", TRY(paths.name(what.work))));
  for (const char* flag : flags) TRY(tree.set(flag));
  return tree.mount(MOUNT_ATTR_NODEV);
}

namespace {

Result<void> set_read_only(int at, const char* path, unsigned flags) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (::syscall(SYS_mount_setattr, at, path, flags, &attributes, sizeof attributes) != 0)
    return fail_errno(std::string("read-only ") + path);
  return {};
}

}  // namespace

Result<void> set_read_only(const std::string& mount_point) {
  return set_read_only(AT_FDCWD, mount_point.c_str(), 0);
}

Result<void> set_read_only(const Fd& tree) {
  return set_read_only(tree.get(), "", AT_EMPTY_PATH);
}

Result<void> attach(const Fd& tree, const std::string& path) {
  if (::syscall(SYS_move_mount, tree.get(), "", AT_FDCWD, path.c_str(),
                MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS) != 0) {
    return fail_errno("mount at " + path);
  }
  return {};
}

Result<void> attach(const Fd& tree, const Fd& place) {
  constexpr unsigned kByDescriptor = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
  if (::syscall(SYS_move_mount, tree.get(), "", place.get(), "", kByDescriptor) != 0)
    return fail_errno("mount");
  return {};
}

Result<void> mount_new(const char* type, const std::string& path, unsigned long flags,
                       const std::string& options) {
  if (::mount(type, path.c_str(), type, flags, options.c_str()) != 0) {
    return fail_errno(std::string("mount ") + type + " at " + path);
  }
  return {};
}

std::vector<std::string> top_mount_points(std::string_view text) {
  // 36 35 98:0 /root /mount/point options … : own id, id of the parent, device, what of it, where.
  struct Line {
    std::string_view id, parent;
    std::string point;
  };
  std::vector<Line> lines;
  std::string_view root_id;
  for (const auto row : split(text, '\n')) {
    const auto fields = split(row, ' ');
    if (fields.size() < 6) continue;
    lines.push_back({.id = fields[0], .parent = fields[1], .point = unescape(fields[4])});
    if (fields[4] == "/") root_id = fields[0];  // the last one is on top
  }
  std::vector<std::string> points;
  for (const auto& line : lines) {
    if (line.parent != root_id || line.point == "/") continue;
    if (std::ranges::find(points, line.point) == points.end()) points.push_back(line.point);
  }
  return points;
}

bool is_below(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

namespace {

// What of a path is below the directory, with its slash; the path is below it.
std::string_view rest_below(std::string_view path, std::string_view directory) {
  return directory == "/" ? path : path.substr(directory.size());
}

std::string join_path(std::string_view directory, std::string_view rest) {
  std::string out(directory == "/" ? std::string_view() : directory);
  out += rest == "/" ? std::string_view() : rest;
  return out.empty() ? "/" : out;
}

struct Mounted {
  std::string device;
  std::string source;  // what of the device
  std::string point;
};

std::vector<Mounted> read_mounts(std::string_view text) {
  std::vector<Mounted> mounts;
  for (const auto row : split(text, '\n')) {
    const auto fields = split(row, ' ');
    if (fields.size() < 6) continue;
    mounts.push_back({.device = std::string(fields[2]),
                      .source = unescape(fields[3]),
                      .point = unescape(fields[4])});
  }
  return mounts;
}

}  // namespace

std::vector<std::string> mount_points(std::string_view text) {
  std::vector<std::string> points;
  for (auto& mount : read_mounts(text)) points.push_back(std::move(mount.point));
  return points;
}

std::vector<std::string> places_of(const std::string& directory, std::string_view text) {
  std::vector<std::string> places{directory};
  const auto mounts = read_mounts(text);
  const Mounted* holder = nullptr;  // the deepest; of several on one point the last is on top
  for (const auto& mount : mounts) {
    if (!is_below(directory, mount.point)) continue;
    if (holder == nullptr || mount.point.size() >= holder->point.size()) holder = &mount;
  }
  if (holder == nullptr) return places;
  const auto inside = join_path(holder->source, rest_below(directory, holder->point));
  for (const auto& mount : mounts) {
    if (mount.device != holder->device || !is_below(inside, mount.source)) continue;
    auto place = join_path(mount.point, rest_below(inside, mount.source));
    if (std::ranges::find(places, place) == places.end()) places.push_back(std::move(place));
  }
  return places;
}

}  // namespace muster::node::shim
