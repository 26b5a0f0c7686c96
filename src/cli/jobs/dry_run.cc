#include "cli/jobs/dry_run.h"

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/print_error.h"
#include "engine/children.h"
#include "json/write.h"
#include "yaml/yaml.h"

namespace muster::cli {
namespace {

// What only the cluster knows stands as a readable gap.
class Gaps final : public plan::Addresses {
 public:
  [[nodiscard]] std::optional<std::string> of(const plan::ServiceIp&) const override {
    return "<ClusterIP>";
  }
  [[nodiscard]] std::optional<std::string> of(const plan::PodIp& pod) const override {
    return fmt::format("<IP of {} {}>", pod.role, pod.index);
  }
};

std::vector<json::Value> children(const plan::Plan& plan) {
  std::vector<json::Value> all;
  const auto gaps = std::make_shared<const Gaps>();
  for (const plan::Object& object : plan.objects) {
    for (int index = 0; index < engine::copies(plan, object); ++index) {
      all.push_back(engine::make_object(plan, {.name = engine::object_name(plan, object, index, {}),
                                               .object = &object,
                                               .index = index,
                                               .addresses = gaps}));
    }
  }
  for (const plan::Role& role : plan.roles) {
    for (int index = 0; index < role.replicas; ++index) {
      all.push_back(engine::make_pod(plan, {.name = role.pod_name.name(index, 0),
                                            .role = &role,
                                            .index = index,
                                            .addresses = gaps}));
    }
  }
  return all;
}

}  // namespace

int print_planned(Output& output, const std::vector<Manifest>& manifests,
                  const std::string& format) {
  std::vector<json::Value> all;
  for (const Manifest& manifest : manifests) {
    if (manifest.dialect == nullptr) {
      all.push_back(manifest.object);
      continue;
    }
    const auto plan = manifest.dialect->compile(manifest.object);
    if (!plan) {
      print_error(output, plan.error());
      return exit_code::kOurs;
    }
    const auto planned = children(*plan);
    all.insert(all.end(), planned.begin(), planned.end());
  }
  if (format == "json") {
    const json::Value list = json::Object{
        {"apiVersion", "v1"}, {"kind", "List"}, {"items", json::Array(all.begin(), all.end())}};
    output.print("{}\n", json::write_pretty(list));
    return exit_code::kOk;
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    output.print("{}{}", i == 0 ? "" : "---\n", yaml::write(all[i]));
  return exit_code::kOk;
}

}  // namespace muster::cli
