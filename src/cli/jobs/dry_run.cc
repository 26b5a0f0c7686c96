#include "cli/jobs/dry_run.h"

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/print_error.h"
#include "engine/children.h"
#include "json/write.h"
#include "yaml/yaml.h"

namespace muster::cli {
namespace {

// What only the cluster knows stands as a readable gap.
constexpr std::string_view kLaterIp = "<ClusterIP>";

std::vector<json::Value> children(const plan::Plan& plan) {
  std::vector<json::Value> all;
  engine::Observed observed;
  for (const plan::Object& object : plan.objects) {
    all.push_back(engine::make_object(plan, object));
    observed.objects.push_back(
        {.resource = object.resource, .name = object.name, .cluster_ip = std::string(kLaterIp)});
  }
  for (const plan::Role& role : plan.roles) {
    for (int index = 0; index < role.replicas; ++index) {
      if (const auto pod = engine::plan_pod(plan, role, index, observed, {}))
        all.push_back(engine::make_pod(plan, *pod));
    }
  }
  return all;
}

}  // namespace

int print_planned(const std::vector<Manifest>& manifests, const std::string& output) {
  std::vector<json::Value> all;
  for (const Manifest& manifest : manifests) {
    if (manifest.dialect == nullptr) {
      all.push_back(manifest.object);
      continue;
    }
    const auto plan = manifest.dialect->compile(manifest.object);
    if (!plan) {
      print_error(plan.error());
      return exit_code::kOurs;
    }
    const auto planned = children(*plan);
    all.insert(all.end(), planned.begin(), planned.end());
  }
  if (output == "json") {
    const json::Value list = json::Object{
        {"apiVersion", "v1"}, {"kind", "List"}, {"items", json::Array(all.begin(), all.end())}};
    fmt::print("{}\n", json::write_pretty(list));
    return exit_code::kOk;
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    fmt::print("{}{}", i == 0 ? "" : "---\n", yaml::write(all[i]));
  return exit_code::kOk;
}

}  // namespace muster::cli
