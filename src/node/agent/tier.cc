#include "node/agent/tier.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "node/linux/cgroup.h"
#include "node/runtime/rootless/shared_way_out.h"
#include "node/runtime/rootless/way_out.h"

namespace muster::node {

namespace {

std::string spell(const linux::IdMap& map) {
  std::vector<std::string> parts;
  for (const auto& range : map) {
    parts.push_back(range.count == 1
                        ? std::to_string(range.first)
                        : fmt::format("{} to {}", range.first, range.first + range.count - 1));
  }
  return join(parts, ", ");
}

std::string refuse(const std::string& field_and_value, const std::string& why) {
  return fmt::format(
      "{} cannot be obeyed by this node: it runs without root, {}; leave the field out, or run "
      "muster as root",
      field_and_value, why);
}

class Walk {
 public:
  explicit Walk(const Tier& tier) : tier_(tier) {}

  std::optional<std::string> look_at(const json::Value& pod) {
    const auto& spec = pod["spec"];
    if (spec["hostNetwork"].as_bool() && tier_.way_out.empty())
      return refuse("spec.hostNetwork: true",
                    "in a network of its own that has no way out of the "
                    "machine");
    look_at_ids(spec["securityContext"], "spec.securityContext");
    for (const char* list : {"initContainers", "containers"}) {
      const auto& containers = spec[list].as_array();
      for (std::size_t i = 0; i < containers.size(); ++i) {
        look_at_ids(containers[i]["securityContext"],
                    fmt::format("spec.{}[{}].securityContext", list, i));
      }
    }
    return std::move(refusal_);
  }

 private:
  void look_at_ids(const json::Value& context, const std::string& at) {
    check(context["runAsUser"], at + ".runAsUser", "user", tier_.users);
    check(context["runAsGroup"], at + ".runAsGroup", "group", tier_.groups);
    check(context["fsGroup"], at + ".fsGroup", "group", tier_.groups);
    const auto& more = context["supplementalGroups"].as_array();
    for (std::size_t i = 0; i < more.size(); ++i)
      check(more[i], fmt::format("{}.supplementalGroups[{}]", at, i), "group", tier_.groups);
  }

  void check(const json::Value& value, const std::string& field, const char* sort,
             const linux::IdMap& map) {
    if (refusal_ || value.is_null() || linux::contains(map, value.as_int())) return;
    refusal_ = refuse(fmt::format("{}: {}", field, value.as_int()),
                      fmt::format("where there is only {} {}", sort, spell(map)));
  }

  const Tier& tier_;
  std::optional<std::string> refusal_;
};

std::string describe_way_out(const Tier& tier) {
  const auto why = tier.no_way_out.empty() ? "" : fmt::format(" ({})", tier.no_way_out);
  if (tier.way_out.empty()) {
    return fmt::format(
        "pods reach each other only, there is no way out of the machine: {}",
        tier.no_way_out.empty() ? "install " + carriers_to_install() : tier.no_way_out);
  }
  if (!tier.all_go_out)
    return fmt::format("out of the machine with hostNetwork only, through {}{}", tier.way_out, why);
  return "out of the machine through " + tier.way_out;
}

}  // namespace

Tier find_tier(const std::string& home_key) {
  if (!linux::in_user_namespace()) return {};
  const auto* carrier = present_carrier();
  return {.root = false,
          .limits = linux::find_cgroups(home_key).version != linux::CgroupRoots::Version::None,
          .users = linux::own_users(),
          .groups = linux::own_groups(),
          .way_out = carrier == nullptr ? "" : carrier->program,
          .all_go_out = is_way_out_shared()};
}

std::string describe(const Tier& tier) {
  if (tier.root) return "";
  return fmt::format("without root, pods in a user namespace · {} · {}",
                     tier.limits ? "limits in a delegated cgroup"
                                 : "no limits of cpu and memory: no cgroup is delegated",
                     describe_way_out(tier));
}

std::optional<std::string> refusal_in(const Tier& tier, const json::Value& pod) {
  return tier.root ? std::nullopt : Walk(tier).look_at(pod);
}

std::string declined_in(const Tier& tier, const json::Value& pod) {
  if (tier.limits) return "";
  std::vector<std::string> declined;
  for (const char* list : {"initContainers", "containers"}) {
    for (const auto& container : pod["spec"][list].as_array()) {
      for (const char* resource : {"cpu", "memory"}) {
        const auto& limit = container["resources"]["limits"][resource];
        if (limit.is_null()) continue;
        declined.push_back(
            fmt::format("{} {} of {}", resource,
                        limit.is_string() ? limit.as_string() : std::to_string(limit.as_int()),
                        container["name"].as_string()));
      }
    }
  }
  if (declined.empty()) return "";
  return fmt::format(
      "limits have no effect here: {}; muster runs without root and no cgroup is "
      "delegated to its user",
      join(declined, ", "));
}

}  // namespace muster::node
