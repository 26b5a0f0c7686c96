#include "dialects/check/pod_template.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "api/quantity.h"
#include "dialects/check/messages.h"

namespace muster::dialects {
namespace {

// Refuses the second use of a name; each list has its own set.
class Names {
 public:
  explicit Names(std::string_view what) : what_(what) {}

  void add(const json::Value& name, const Path& path, Findings& findings) {
    if (!name.is_string() || name.as_string().empty()) return;
    const auto [first, fresh] = seen_.try_emplace(name.as_string(), path.text());
    if (fresh) return;
    findings.refuse(path, rules::kUnique,
                    fmt::format("the {} {} is already used by {}; choose another", what_,
                                shown(name), first->second));
  }
  [[nodiscard]] bool contains(const std::string& name) const { return seen_.contains(name); }

 private:
  std::string_view what_;
  std::map<std::string, std::string> seen_;
};

void check_environment(const json::Value& container, const Path& path, Findings& findings) {
  const auto& env = container["env"].as_array();
  for (std::size_t i = 0; i < env.size(); ++i) {
    if (!env[i]["valueFrom"].is_null() && !env[i]["value"].as_string().empty()) {
      findings.refuse(
          (path / "env")[i] / "valueFrom", rules::kOneSource,
          fmt::format("{} has value and valueFrom; keep one of them", shown(env[i]["name"])));
    }
  }
}

void check_mounts(const json::Value& container, const Path& path, const Names& volumes,
                  Findings& findings) {
  Names paths("mountPath");
  const auto& mounts = container["volumeMounts"].as_array();
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const Path mount = (path / "volumeMounts")[i];
    const auto& name = mounts[i]["name"].as_string();
    if (!name.empty() && !volumes.contains(name)) {
      findings.refuse(mount / "name", rules::kKnownVolume,
                      fmt::format("no volume is named {}; add it to spec.volumes of the template",
                                  in_quotes(name)));
    }
    paths.add(mounts[i]["mountPath"], mount / "mountPath", findings);
  }
}

// What device plugins offer comes in whole pieces.
bool is_extended(std::string_view resource) {
  return resource.find('/') != std::string_view::npos &&
         resource.find("kubernetes.io/") == std::string_view::npos;
}

void check_whole_numbers(const json::Value& amounts, const Path& path, Findings& findings) {
  for (const auto& [name, amount] : amounts.as_object()) {
    const auto quantity = api::Quantity::from(amount);
    if (!is_extended(name) || !quantity || quantity->milli() % 1000 == 0) continue;
    findings.refuse(path / name, rules::kWholeNumber,
                    fmt::format("{} must be a whole number, because {} cannot be divided",
                                shown(amount), name));
  }
}

void check_resources(const json::Value& resources, const Path& path, Findings& findings) {
  check_whole_numbers(resources["limits"], path / "limits", findings);
  check_whole_numbers(resources["requests"], path / "requests", findings);
  for (const auto& [name, request] : resources["requests"].as_object()) {
    const auto* limit = resources["limits"].as_object().find(name);
    if (limit == nullptr) continue;
    const auto wanted = api::Quantity::from(request);
    const auto most = api::Quantity::from(*limit);
    if (!wanted || !most || *wanted <= *most) continue;
    findings.refuse(path / "requests" / name, rules::kWithinLimit,
                    fmt::format("{} is more than the limit {}", shown(request), shown(*limit)));
  }
}

void check_container(const json::Value& container, const Path& path, const Names& volumes,
                     Findings& findings) {
  Names ports("port name");
  const auto& list = container["ports"].as_array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    ports.add(list[i]["name"], (path / "ports")[i] / "name", findings);
  }
  check_environment(container, path, findings);
  check_mounts(container, path, volumes, findings);
  check_resources(container["resources"], path / "resources", findings);
}

void check_volume_source(const json::Value& volume, const Path& path, Findings& findings) {
  std::string_view first;
  for (const auto& [name, source] : volume.as_object()) {
    if (name == "name" || source.is_null()) continue;
    if (first.empty()) {
      first = name;
      continue;
    }
    findings.refuse(path / name, rules::kOneSource,
                    fmt::format("the volume already has the source {}; keep one of them", first));
  }
}

}  // namespace

void check_pod_template(const json::Value& pod_template, const Path& path, Findings& findings) {
  const auto& spec = pod_template["spec"];
  const Path here = path / "spec";
  Names volumes("volume name");
  for (std::size_t i = 0; i < spec["volumes"].as_array().size(); ++i) {
    const Path volume = (here / "volumes")[i];
    volumes.add(spec["volumes"][i]["name"], volume / "name", findings);
    check_volume_source(spec["volumes"][i], volume, findings);
  }
  Names containers("container name");
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (std::size_t i = 0; i < spec[list].as_array().size(); ++i) {
      const Path container = (here / list)[i];
      containers.add(spec[list][i]["name"], container / "name", findings);
      check_container(spec[list][i], container, volumes, findings);
    }
  }
}

}  // namespace muster::dialects
