#include "agent/files.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace muster::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

std::unexpected<Error> failed(const std::string& what, const std::error_code& error) {
  return fail(ErrorCode::Io, what + ": " + error.message());
}

Result<void> copy_entry(const fs::directory_entry& entry, const fs::path& to) {
  std::error_code error;
  const auto what = "copying " + entry.path().string() + " to " + to.string();
  if (entry.is_symlink(error)) {
    fs::remove(to, error);
    fs::copy_symlink(entry.path(), to, error);
  } else if (entry.is_directory(error)) {
    return copy_contents(entry.path().string(), to.string());
  } else if (entry.is_regular_file(error)) {
    fs::copy_file(entry.path(), to, fs::copy_options::overwrite_existing, error);
  }
  if (error) return failed(what, error);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    if (errno == ENOENT || errno == ENOTDIR)
      return fail(ErrorCode::NotFound, path + " does not exist");
    return fail_errno("open " + path);
  }
  std::string text(kMostBytes, '\0');
  std::size_t size = 0;
  while (size < kMostBytes) {
    const auto count = ::read(file.get(), text.data() + size, kMostBytes - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("read " + path);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  return text;
}

Result<void> make_directories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return failed("making directory " + path, error);
  return {};
}

Result<void> copy_contents(const std::string& from, const std::string& to) {
  std::error_code error;
  if (!fs::is_directory(from, error))
    return fail(ErrorCode::NotFound, from + " is not a directory");
  TRY(make_directories(to));
  fs::directory_iterator it(from, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error))
    TRY(copy_entry(*it, fs::path(to) / it->path().filename()));
  if (error) return failed("reading directory " + from, error);
  return {};
}

Result<Fd> create_log(const std::string& path) {
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644));
  if (!file.valid()) return fail_errno("create " + path);
  return file;
}

}  // namespace muster::agent
