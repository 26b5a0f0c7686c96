#include "node/shim/root/search.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/strings.h"
#include "node/linux/beneath.h"
#include "node/shim/root/layers.h"

namespace muster::node::shim {

namespace {

// Whether the machine has it there, or nobody can say: links may lead elsewhere in the container.
bool may_be(const Fd& root, const std::string& candidate) {
  const auto found = linux::open_within(root.get(), candidate.substr(1), O_PATH | O_NOFOLLOW,
                                        linux::Walk::NoLinks);
  return found || (errno != ENOENT && errno != ENOTDIR);
}

bool may_hold(const Fd& root, const std::string& directory, const std::string& program,
              const Machine& machine) {
  const bool plain = directory.starts_with('/') &&
                     std::filesystem::path(directory).lexically_normal() == directory;
  const auto candidate = directory + "/" + program;
  const bool covered = !plain || is_made_anew(candidate) ||
                       std::ranges::any_of(machine.targets, [&](const auto& target) {
                         return is_below(candidate, target);
                       });
  return covered || may_be(root, candidate);
}

}  // namespace

std::optional<std::vector<std::string>> narrow_search(const std::string& program,
                                                      const std::string& path, const RootSpec& root,
                                                      const Machine& machine) {
  const bool named = !program.empty() && program.find('/') == std::string::npos;
  if (!named || root.root.kind != RootFilesystem::Kind::Host) return std::nullopt;
  const auto top = linux::open_root("/");
  if (!top) return std::nullopt;
  std::vector<std::string> kept;
  for (const auto part : split(path, ':')) {
    std::string directory(part);
    if (may_hold(*top, directory, program, machine)) kept.push_back(std::move(directory));
  }
  return kept;
}

}  // namespace muster::node::shim
