#include "node/volumes/on_host.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "api/object.h"
#include "base/fd.h"

namespace muster::node {

namespace fs = std::filesystem;

Result<void> make_directory(const std::string& path, mode_t mode) {
  std::error_code error;
  const bool existed = fs::is_directory(path, error);
  fs::create_directories(path, error);
  if (error) return fail(ErrorCode::Io, fmt::format("mkdir {}: {}", path, error.message()));
  if (!existed && ::chmod(path.c_str(), mode) < 0) return fail_errno("chmod " + path);
  return {};
}

namespace {

// Whether a path leads below a directory, links and dots resolved as far as it exists.
bool leads_into(const std::string& path, const std::string& directory) {
  std::error_code error;
  const auto real = fs::weakly_canonical(path, error);
  const auto closed = fs::weakly_canonical(directory, error);
  if (error) return false;
  return std::ranges::mismatch(closed, real).in1 == closed.end();
}

}  // namespace

Result<void> check_outside(const std::string& path, const std::string& home) {
  if (home.empty() || !leads_into(path, home)) return {};
  return fail(ErrorCode::Invalid,
              fmt::format("hostPath {} lies in Muster's own directory {}, which no pod may see",
                          path, home));
}

Result<VolumeSource> host_path(const json::Value& source) {
  const auto& path = source["path"].as_string();
  const auto& type = source["type"].as_string();
  if (type == "DirectoryOrCreate") TRY(make_directory(path, 0755));
  if (type == "FileOrCreate") {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!file.valid()) return fail_errno("open " + path);
  }
  struct stat info{};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (type.empty()) {
    // Unchecked by Kubernetes; the container runtimes make a directory of it, and so do we.
    if (!exists) TRY(make_directory(path, 0755));
    return VolumeSource{.path = path};
  }
  const auto expect = [&](bool right) -> Result<VolumeSource> {
    if (exists && right) return VolumeSource{.path = path};
    return fail(ErrorCode::Invalid,
                fmt::format("hostPath type check failed: {} is not a {}", path, type));
  };
  if (type == "Directory" || type == "DirectoryOrCreate") return expect(S_ISDIR(info.st_mode));
  if (type == "File" || type == "FileOrCreate") return expect(S_ISREG(info.st_mode));
  if (type == "Socket") return expect(S_ISSOCK(info.st_mode));
  if (type == "CharDevice") return expect(S_ISCHR(info.st_mode));
  if (type == "BlockDevice") return expect(S_ISBLK(info.st_mode));
  return fail(ErrorCode::Invalid, fmt::format("hostPath type {} is not known", type));
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
  const auto& path = spec[spec["local"].is_object() ? "local" : "hostPath"]["path"].as_string();
  if (!leads_into(path, input.home + "/volumes")) TRY(check_outside(path, input.home));
  VolumeSource out;
  if (spec["hostPath"].is_object()) {
    out = TRY(host_path(spec["hostPath"]));
  } else if (spec["local"].is_object()) {
    out = TRY(host_path(json::Object{{"path", spec["local"]["path"]}, {"type", "Directory"}}));
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
