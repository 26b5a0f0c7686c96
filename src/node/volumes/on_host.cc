#include "node/volumes/on_host.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "api/object.h"
#include "base/fd.h"
#include "node/linux/beneath.h"

namespace muster::node {

namespace fs = std::filesystem;

namespace {

constexpr auto kNoLinks = linux::Walk::NoLinks;

}  // namespace

Result<void> make_directory(const std::string& path, mode_t mode) {
  std::error_code error;
  const bool existed = fs::is_directory(path, error);
  fs::create_directories(path, error);
  if (error) return fail(ErrorCode::Io, fmt::format("mkdir {}: {}", path, error.message()));
  if (!existed && ::chmod(path.c_str(), mode) < 0) return fail_errno("chmod " + path);
  return {};
}

namespace {

bool is_within(const fs::path& path, const fs::path& directory) {
  return std::ranges::mismatch(directory, path).in1 == directory.end();
}

// What of a path exists, by its descriptor, and what is missing of it.
struct Reached {
  Fd fd;
  fs::path real;
  fs::path missing;
};

Result<Reached> reach(const std::string& path) {
  fs::path above(path);
  Reached out;
  while (true) {
    out.fd = Fd(::open(above.c_str(), O_PATH | O_CLOEXEC));
    if (out.fd.valid()) break;
    if (errno != ENOENT || !above.has_relative_path()) return fail_errno("open " + path);
    if (above.has_filename())
      out.missing = out.missing.empty() ? above.filename() : above.filename() / out.missing;
    above = above.parent_path();
  }
  out.real = TRY(linux::path_of(out.fd.get()));
  return out;
}

Result<void> check(const std::string& path, const fs::path& real, const ClosedHome& closed) {
  std::error_code error;
  if (closed.home.empty()) return {};
  const auto home = fs::weakly_canonical(closed.home, error);
  if (error || !is_within(real, home)) return {};
  const bool open = !closed.shown.empty() && is_within(real, fs::weakly_canonical(closed.shown));
  if (open) return {};
  return fail(ErrorCode::Invalid,
              fmt::format("hostPath {} lies in Muster's own directory {}, which no pod may see",
                          path, closed.home));
}

// Below what was checked, by its descriptor: a link that came meanwhile is refused.
Result<void> make(Reached& found, const std::string& path, bool file) {
  for (const auto& part : found.missing) {
    if (part == "..")
      return fail(ErrorCode::Invalid, fmt::format("hostPath {} has a \"..\"", path));
  }
  const auto missing = found.missing.string();
  const auto directories = (file ? found.missing.parent_path() : found.missing).string();
  if (file && !directories.empty()) return fail_errno("open " + path, ENOENT);
  found.fd = file ? TRY(linux::make_file_within(found.fd.get(), missing, 0644, kNoLinks))
                  : TRY(linux::make_directories_within(found.fd.get(), missing, 0755, kNoLinks));
  found.real = TRY(linux::path_of(found.fd.get()));
  found.missing.clear();
  return {};
}

bool is_of_type(mode_t mode, std::string_view type) {
  if (type == "Directory" || type == "DirectoryOrCreate") return S_ISDIR(mode);
  if (type == "File" || type == "FileOrCreate") return S_ISREG(mode);
  if (type == "Socket") return S_ISSOCK(mode);
  if (type == "CharDevice") return S_ISCHR(mode);
  return type == "BlockDevice" && S_ISBLK(mode);
}

}  // namespace

Result<std::string> real_path(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) return fail_errno("open " + path);
  return linux::path_of(fd.get());
}

Result<std::string> directory_outside(const std::string& path, const std::string& home) {
  const auto fd = TRY(linux::open_root(path));
  auto real = TRY(linux::path_of(fd.get()));
  TRY(check(path, real, {.home = home}));
  return real;
}

Result<VolumeSource> host_path(const json::Value& source, const ClosedHome& closed) {
  const auto& path = source["path"].as_string();
  const auto& type = source["type"].as_string();
  auto found = TRY(reach(path));
  TRY(check(path, (found.real / found.missing).lexically_normal(), closed));
  const bool missing = !found.missing.empty();
  // An empty type is unchecked by Kubernetes; the container runtimes make a directory of what is
  // missing, and so do we.
  const bool creates = type.empty() || type == "DirectoryOrCreate" || type == "FileOrCreate";
  if (missing && creates) {
    TRY(make(found, path, type == "FileOrCreate"));
    TRY(check(path, found.real, closed));
  }
  struct stat info{};
  const bool right = found.missing.empty() && ::fstat(found.fd.get(), &info) == 0 &&
                     (type.empty() || is_of_type(info.st_mode, type));
  if (right) return VolumeSource{.path = found.real.string()};
  return fail(ErrorCode::Invalid,
              fmt::format("hostPath type check failed: {} is not a {}", path, type));
}

std::set<std::string> claims_of(const json::Value& pod) {
  std::set<std::string> out;
  for (const auto& volume : pod["spec"]["volumes"].as_array()) {
    const auto& name = volume["persistentVolumeClaim"]["claimName"].as_string();
    if (!name.empty()) out.insert(name);
  }
  return out;
}

Result<VolumeSource> claimed_volume(const VolumeInput& input, const json::Value& source) {
  const auto& name = source["claimName"].as_string();
  const auto found = input.claimed.find(name);
  const auto claimed = found == input.claimed.end() ? Claimed{} : found->second;
  if (!claimed.claim)
    return fail(ErrorCode::NotFound, fmt::format("persistentvolumeclaim \"{}\" not found", name));
  if ((*claimed.claim)["status"]["phase"].as_string() != "Bound") {
    return fail(ErrorCode::NotFound,
                fmt::format("persistentvolumeclaim \"{}\" is not bound to a volume yet", name));
  }
  if (!claimed.volume) {
    return fail(ErrorCode::NotFound,
                fmt::format("persistentvolume \"{}\" of persistentvolumeclaim \"{}\" not found",
                            (*claimed.claim)["spec"]["volumeName"].as_string(), name));
  }
  const auto& spec = (*claimed.volume)["spec"];
  // What was made for a claim is the one part of the home that pods may see.
  const ClosedHome closed{.home = input.home, .shown = input.home + "/volumes"};
  VolumeSource out;
  if (spec["hostPath"].is_object()) {
    out = TRY(host_path(spec["hostPath"], closed));
  } else if (spec["local"].is_object()) {
    const json::Value local = json::Object{{"path", spec["local"]["path"]}, {"type", "Directory"}};
    out = TRY(host_path(local, closed));
  } else {
    return fail(ErrorCode::Invalid,
                fmt::format("persistentvolume \"{}\" is of a type that this node does not have; "
                            "it has hostPath and local",
                            api::name_of(*claimed.volume)));
  }
  out.read_only = source["readOnly"].as_bool();
  return out;
}

}  // namespace muster::node
