#include "node/volumes/atomic_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/strings.h"

namespace muster::node {

namespace {

namespace fs = std::filesystem;

Result<void> check_path(const std::string& path) {
  bool bad = path.empty() || path.starts_with('/') || path.starts_with("..");
  for (const auto part : split(path, '/')) bad = bad || part == "..";
  if (bad)
    return fail(ErrorCode::Invalid, fmt::format("\"{}\" is not a path inside a volume", path));
  return {};
}

Result<void> make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    return fail(ErrorCode::Io, fmt::format("mkdir {}: {}", path.string(), error.message()));
  return {};
}

Result<void> write_file(const fs::path& path, const FilePayload& file) {
  const Fd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!out.valid()) return fail_errno("open " + path.string());
  std::string_view rest = file.bytes;
  while (!rest.empty()) {
    const auto count = ::write(out.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("write " + path.string());
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  if (file.group && ::fchown(out.get(), static_cast<uid_t>(-1), *file.group) < 0)
    return fail_errno("chown " + path.string());
  // Not through open(): the umask would take bits away.
  if (::fchmod(out.get(), file.mode) < 0) return fail_errno("chmod " + path.string());
  return {};
}

bool holds(const fs::path& data, const Payload& payload) {
  std::error_code error;
  std::size_t files = 0;
  for (auto it = fs::recursive_directory_iterator(data, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->is_regular_file(error)) ++files;
  }
  if (error || files != payload.size()) return false;
  for (const auto& [path, file] : payload) {
    struct stat info{};
    const auto full = data / path;
    if (::stat(full.c_str(), &info) < 0 || (info.st_mode & 07777U) != file.mode) return false;
    std::ifstream in(full, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in || bytes != file.bytes) return false;
  }
  return true;
}

Result<void> replace_link(const fs::path& link, const fs::path& target) {
  const auto temporary = link.string() + "_tmp";
  ::unlink(temporary.c_str());
  if (::symlink(target.c_str(), temporary.c_str()) < 0) return fail_errno("symlink " + temporary);
  if (::rename(temporary.c_str(), link.c_str()) < 0) return fail_errno("rename " + temporary);
  return {};
}

// The names that people see: the first part of every path.
std::set<std::string> visible_names(const Payload& payload) {
  std::set<std::string> out;
  for (const auto& [path, file] : payload) out.insert(path.substr(0, path.find('/')));
  return out;
}

Result<void> link_names(const fs::path& directory, const std::set<std::string>& names) {
  for (const auto& name : names) {
    const auto link = directory / name;
    const auto target = fs::path("..data") / name;
    std::error_code error;
    if (fs::read_symlink(link, error) == target) continue;
    TRY(replace_link(link, target));
  }
  return {};
}

// Old versions, and names that are no longer there.
void tidy(const fs::path& directory, const fs::path& current, const std::set<std::string>& names) {
  std::error_code error;
  std::vector<fs::path> stale;
  for (auto it = fs::directory_iterator(directory, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const auto name = it->path().filename().string();
    const bool keep = name == "..data" || it->path().filename() == current || names.contains(name);
    if (!keep) stale.push_back(it->path());
  }
  for (const auto& path : stale) fs::remove_all(path, error);
}

}  // namespace

Result<void> write_atomic_directory(const std::string& directory, const Payload& payload) {
  for (const auto& [path, file] : payload) TRY(check_path(path));
  const fs::path root(directory);
  TRY(make_directories(root));
  const auto data = root / "..data";
  std::error_code error;
  const auto names = visible_names(payload);
  const auto present = fs::read_symlink(data, error);
  if (!error && holds(data, payload)) {
    // A crash may have come between the switch and the names.
    TRY(link_names(root, names));
    tidy(root, present, names);
    return {};
  }

  // mkdtemp gives a name that nobody has, and 0700; the kubelet's has a date in it, nobody reads
  // it.
  auto pattern = (root / "..version_XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return fail_errno("mkdtemp " + pattern);
  if (::chmod(pattern.c_str(), 0755) < 0) return fail_errno("chmod " + pattern);
  const fs::path version(pattern);
  for (const auto& [path, file] : payload) {
    TRY(make_directories((version / path).parent_path()));
    TRY(write_file(version / path, file));
  }
  TRY(replace_link(data, version.filename()));
  TRY(link_names(root, names));
  tidy(root, version.filename(), names);
  return {};
}

}  // namespace muster::node
