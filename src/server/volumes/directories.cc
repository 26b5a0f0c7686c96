#include "server/volumes/directories.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace muster::server {
namespace {

namespace fs = std::filesystem;

Result<void> make_open_directory(const std::string& path) {
  std::error_code error;
  const auto parent = fs::path(path).parent_path();
  fs::create_directories(parent, error);
  if (error)
    return fail(ErrorCode::Io, fmt::format("mkdir {}: {}", parent.string(), error.message()));
  if (::mkdir(path.c_str(), 0700) != 0) {
    if (errno != EEXIST) return fail_errno("mkdir " + path);
    return {};
  }
  // Containers may run as any user.
  if (::chmod(path.c_str(), 0777) != 0) return fail_errno("chmod " + path);
  return {};
}

Result<void> remove_tree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return fail(ErrorCode::Io, fmt::format("remove {}: {}", path, error.message()));
  return {};
}

class PoolDirectories final : public VolumeDirectories {
 public:
  PoolDirectories(rt::Loop& loop, rt::Pool& pool, std::string root)
      : loop_(loop), pool_(pool), root_(std::move(root)) {}

  [[nodiscard]] const std::string& root() const override { return root_; }

  Task<Result<void>> make(std::string path) override {
    auto done =
        co_await pool_.run(loop_, [path = std::move(path)] { return make_open_directory(path); });
    if (!done) co_return fail(done.error());
    co_return *done;
  }

  Task<Result<void>> remove(std::string path) override {
    auto done = co_await pool_.run(loop_, [path = std::move(path)] { return remove_tree(path); });
    if (!done) co_return fail(done.error());
    co_return *done;
  }

 private:
  rt::Loop& loop_;
  rt::Pool& pool_;
  std::string root_;
};

}  // namespace

std::unique_ptr<VolumeDirectories> make_volume_directories(rt::Loop& loop, rt::Pool& pool,
                                                           std::string root) {
  return std::make_unique<PoolDirectories>(loop, pool, std::move(root));
}

}  // namespace muster::server
