#include "files.h"

#include <fmt/format.h>

#include "crd.h"
#include "rights.h"
#include "yaml/yaml.h"

namespace muster::deploy {
namespace {

constexpr std::string_view kHeader =
    "# Generated from the field tables and identities of src/dialects by ./dev gen; edit those.\n";

std::string text_of(std::string_view comment, const json::Value& value) {
  return fmt::format("{}{}{}", kHeader, comment, yaml::write(value));
}

json::Value role(std::string_view kind, json::Array rules) {
  return json::Object{{"apiVersion", "rbac.authorization.k8s.io/v1"},
                      {"kind", kind},
                      {"metadata", json::Object{{"name", "muster-operator"}}},
                      {"rules", std::move(rules)}};
}

json::Value kustomization(json::Array resources) {
  return json::Object{{"apiVersion", "kustomize.config.k8s.io/v1beta1"},
                      {"kind", "Kustomization"},
                      {"resources", std::move(resources)}};
}

}  // namespace

std::map<std::string, std::string> files_for(const plan::Registry& registry) {
  std::map<std::string, std::string> files;
  json::Array crds;
  for (const auto& dialect : registry.all()) {
    if (dialect->identity().embedded_only) continue;
    const api::Resource& resource = dialect->identity().resource;
    const std::string name = fmt::format("{}_{}.yaml", resource.group, resource.plural);
    files["crds/" + name] = text_of("", crd_of(*dialect));
    crds.emplace_back(name);
  }
  files["crds/kustomization.yaml"] =
      text_of("# kubectl apply --server-side -k deploy/crds\n", kustomization(std::move(crds)));
  files["role.yaml"] = text_of("# What the operator may do, in all namespaces.\n",
                               role("ClusterRole", rules_for(registry)));
  files["namespaced/role.yaml"] =
      text_of("# The same rights in one namespace.\n", role("Role", rules_for(registry)));
  return files;
}

}  // namespace muster::deploy
