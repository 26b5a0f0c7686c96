#include "dialects/mpi/rules.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "api/object.h"
#include "dialects/check/messages.h"
#include "dialects/mpi/names.h"
#include "dialects/mpi/setup.h"

namespace muster::dialects::mpi {
namespace {

// All of ours begin so.
constexpr std::string_view kNames = "muster-";
constexpr std::string_view kPlaces = "/muster/";

using Beginnings = std::vector<std::string_view>;

bool is_ours(const json::Value& text, const Beginnings& ours) {
  return std::ranges::any_of(
      ours, [&](std::string_view start) { return text.as_string().starts_with(start); });
}

void check_name(const json::Value& named, const Path& path, const Beginnings& ours,
                std::string_view what, Findings& findings) {
  if (!is_ours(named["name"], ours)) return;
  findings.refuse(
      path / "name", rules::kReserved,
      fmt::format("{} is a name for {} of ours; choose another", shown(named["name"]), what));
}

void check_places(const json::Value& container, const Path& path, const Beginnings& ours,
                  Findings& findings) {
  const auto& mounts = container["volumeMounts"].as_array();
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string place = mounts[i]["mountPath"].as_string() + "/";
    if (!is_ours(place, ours)) continue;
    findings.refuse((path / "volumeMounts")[i] / "mountPath", rules::kReserved,
                    fmt::format("{} is where we put files of our own; choose another place",
                                shown(mounts[i]["mountPath"])));
  }
}

}  // namespace

void check_reserved(const json::Value& pod_template, const Path& path,
                    std::initializer_list<std::string_view> more_names,
                    std::initializer_list<std::string_view> more_places, Findings& findings) {
  Beginnings names{kNames};
  names.insert(names.end(), more_names);
  Beginnings places{kPlaces};
  places.insert(places.end(), more_places);
  const json::Value& spec = pod_template["spec"];
  const Path here = path / "spec";
  for (std::size_t i = 0; i < spec["volumes"].as_array().size(); ++i) {
    check_name(spec["volumes"][i], (here / "volumes")[i], names, "volumes", findings);
  }
  for (const std::string_view list : {"initContainers", "containers"}) {
    for (std::size_t i = 0; i < spec[list].as_array().size(); ++i) {
      check_name(spec[list][i], (here / list)[i], names, "containers", findings);
      check_places(spec[list][i], (here / list)[i], places, findings);
    }
  }
}

void check_remote_start(const json::Value& job, Findings& findings) {
  const std::string& chosen = api::annotation_of(job, kRemoteStartAnnotation);
  if (chosen.empty() || chosen == kByAgent || chosen == kBySshd) return;
  findings.refuse(Path("metadata.annotations") / kRemoteStartAnnotation, rules::kRemoteStart,
                  fmt::format("must be {} or {}, not {}", kByAgent, kBySshd, in_quotes(chosen)));
}

}  // namespace muster::dialects::mpi
