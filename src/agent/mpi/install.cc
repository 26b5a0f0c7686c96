#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "agent/files.h"
#include "agent/mpi/verbs.h"

namespace muster::agent::mpi {
namespace {

namespace fs = std::filesystem;

constexpr auto kProgram = "muster-agent";
constexpr mode_t kMode = 0755;

Result<void> copy_program(const std::string& directory) {
  TRY(make_directories(directory));
  const auto target = directory + "/" + kProgram;
  const auto beside = target + ".new";
  std::error_code error;
  fs::copy_file("/proc/self/exe", beside, fs::copy_options::overwrite_existing, error);
  if (error) return fail(ErrorCode::Io, "copying to " + beside + ": " + error.message());
  if (::chmod(beside.c_str(), kMode) != 0) return fail_errno("chmod " + beside);
  if (::rename(beside.c_str(), target.c_str()) != 0) return fail_errno("rename to " + target);
  return {};
}

}  // namespace

Task<Result<int>> install(VerbContext& context) {
  if (context.arguments.size() != 1)
    co_return fail(ErrorCode::BadRequest,
                   "one directory is needed; muster-agent install --help says more");
  CO_TRY(copy_program(context.arguments.front()));
  co_return 0;
}

}  // namespace muster::agent::mpi
