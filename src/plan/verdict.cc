#include "plan/verdict.h"

#include <algorithm>
#include <array>

namespace muster::plan {
namespace {

constexpr std::array<std::string_view, 6> kPhases = {"Created",   "Running",   "Restarting",
                                                     "Suspended", "Succeeded", "Failed"};
constexpr std::array<std::string_view, 6> kCauses = {"PodFailed",   "BackoffLimit",  "Deadline",
                                                     "InvalidSpec", "ForeignObject", "Rejected"};

// The enumerator of that name, or the first one.
template <class Enum, std::size_t N>
Enum named(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? static_cast<Enum>(0) : static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view to_string(Phase phase) {
  return kPhases.at(static_cast<std::size_t>(phase));
}

Phase phase_named(std::string_view name) {
  return named<Phase>(kPhases, name);
}

std::string_view to_string(CauseKind kind) {
  return kCauses.at(static_cast<std::size_t>(kind));
}

CauseKind cause_kind_named(std::string_view name) {
  return named<CauseKind>(kCauses, name);
}

}  // namespace muster::plan
