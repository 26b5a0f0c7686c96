#include "cli/manifests/manifest_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/limits.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_all(int fd, const std::string& name) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const auto count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0) return fail_errno("reading " + name);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > limits::kMaxManifestFileBytes) {
      return fail(ErrorCode::TooLarge, fmt::format("{} is larger than {} MiB", name,
                                                   limits::kMaxManifestFileBytes >> 20U));
    }
  }
}

bool is_manifest(const fs::directory_entry& entry, const std::vector<std::string>& others) {
  std::error_code error;
  const auto extension = entry.path().extension();
  const bool named_so = extension == ".yaml" || extension == ".yml" || extension == ".json";
  return named_so && entry.is_regular_file(error) &&
         std::ranges::none_of(others, [&](const std::string& other) {
           return fs::equivalent(other, entry.path(), error);
         });
}

Result<std::vector<std::string>> manifests_in(const std::string& directory,
                                              const std::vector<std::string>& others) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_manifest(*entry, others)) files.push_back(entry->path().string());
  }
  if (error) {
    return fail(ErrorCode::Io, fmt::format("cannot read {}: {}", directory, error.message()));
  }
  if (files.empty()) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("{}: there is no *.yaml, *.yml or *.json in this directory", directory));
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::vector<std::string>> manifest_files(const std::vector<std::string>& named,
                                                const std::vector<std::string>& others) {
  std::vector<std::string> files;
  for (const std::string& name : named) {
    std::error_code error;
    if (name == "-" || !fs::is_directory(name, error)) {
      files.push_back(name);
      continue;
    }
    for (auto& file : TRY(manifests_in(name, others))) files.push_back(std::move(file));
  }
  return files;
}

Result<std::string> read_manifest_file(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input");
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return fail_errno("cannot read " + path);
  return read_all(file.get(), path);
}

}  // namespace muster::cli
