#include "cli/objects/kind_names.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/jobs/resource_names.h"

namespace muster::cli {
namespace {

std::string listed(const std::set<std::string>& names) {
  return join({names.begin(), names.end()}, ", ");
}

}  // namespace

Result<std::vector<const plan::Dialect*>> kinds_named(const plan::Registry& registry,
                                                      const std::vector<std::string>& names) {
  std::vector<const plan::Dialect*> chosen;
  std::set<std::string> known;
  for (const auto& dialect : registry.all()) {
    if (dialect->identity().embedded_only) continue;  // the cluster runs it itself
    known.insert(dialect->identity().resource.qualified());
    if (names.empty()) chosen.push_back(dialect.get());
  }
  for (const std::string& name : names) {
    std::set<std::string> meant;  // two versions of one resource are one of these
    for (const auto& dialect : registry.all()) {
      if (dialect->identity().embedded_only || !names_kind(dialect->identity(), name)) continue;
      meant.insert(dialect->identity().resource.qualified());
      if (std::ranges::find(chosen, dialect.get()) == chosen.end()) chosen.push_back(dialect.get());
    }
    if (meant.empty()) {
      return fail(ErrorCode::Invalid, fmt::format("--kinds: no kind \"{}\"; known are {}",
                                                  printable(name), listed(known)));
    }
    if (meant.size() > 1) {
      return fail(ErrorCode::Invalid,
                  fmt::format("--kinds: \"{}\" may be any of {}", printable(name), listed(meant)));
    }
  }
  return chosen;
}

}  // namespace muster::cli
