#include "cli/doctor/crd_difference.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster::cli {
namespace {

void compare(const json::Value& ours, const json::Value& theirs, const std::string& at,
             std::vector<std::string>& lacking) {
  if (theirs["x-kubernetes-preserve-unknown-fields"].as_bool()) return;
  for (const auto& [name, field] : ours["properties"].as_object()) {
    const std::string path = at.empty() ? std::string(name) : fmt::format("{}.{}", at, name);
    const json::Value& other = theirs["properties"][name];
    if (other.is_null())
      lacking.push_back(path);
    else
      compare(field, other, path, lacking);
  }
  // Lists and maps: their places are left out of paths, as in `muster explain`.
  for (const char* inner : {"items", "additionalProperties"}) {
    if (ours[inner].is_object() && theirs[inner].is_object())
      compare(ours[inner], theirs[inner], at, lacking);
  }
}

}  // namespace

std::vector<std::string> lacking_in(const json::Value& crd, const plan::Dialect& dialect) {
  const plan::Identity& identity = dialect.identity();
  const json::Array& versions = crd["spec"]["versions"].as_array();
  const auto version = std::ranges::find_if(versions, [&](const json::Value& one) {
    return one["name"].as_string() == identity.resource.version && one["served"].as_bool();
  });
  if (version == versions.end()) return {fmt::format("version {}", identity.resource.version)};
  std::vector<std::string> lacking;
  const json::Value& subresources = (*version)["subresources"];
  if (subresources["status"].is_null()) lacking.emplace_back("the subresource status");
  if (!identity.scale_spec_path.empty() && subresources["scale"].is_null())
    lacking.emplace_back("the subresource scale");
  compare(dialect.schema(), (*version)["schema"]["openAPIV3Schema"], "", lacking);
  return lacking;
}

}  // namespace muster::cli
