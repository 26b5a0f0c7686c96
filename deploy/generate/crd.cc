#include "crd.h"

#include <fmt/format.h>

namespace muster::deploy {
namespace {

json::Array words(const std::vector<std::string>& list) {
  json::Array out;
  for (const std::string& word : list) out.emplace_back(word);
  return out;
}

json::Value names_of(const plan::Identity& identity) {
  json::Object names{{"kind", identity.resource.kind},
                     {"listKind", identity.resource.kind + "List"},
                     {"plural", identity.resource.plural},
                     {"singular", identity.singular}};
  if (!identity.short_names.empty()) names.set("shortNames", words(identity.short_names));
  if (!identity.categories.empty()) names.set("categories", words(identity.categories));
  return names;
}

json::Value columns_of(const plan::Identity& identity) {
  json::Array columns;
  for (const auto& column : identity.columns) {
    json::Object entry{{"name", column.name}, {"type", column.type}};
    if (column.priority != 0) entry.set("priority", column.priority);
    entry.set("jsonPath", column.path);
    columns.emplace_back(std::move(entry));
  }
  columns.emplace_back(
      json::Object{{"name", "Age"}, {"type", "date"}, {"jsonPath", ".metadata.creationTimestamp"}});
  return columns;
}

json::Value subresources_of(const plan::Identity& identity) {
  json::Object out{{"status", json::Object{}}};
  if (!identity.scale_spec_path.empty()) {
    out.set("scale", json::Object{{"specReplicasPath", identity.scale_spec_path},
                                  {"statusReplicasPath", identity.scale_status_path},
                                  {"labelSelectorPath",
                                   fmt::format(".status.{}.selector", plan::kStatusKey)}});
  }
  return out;
}

}  // namespace

json::Value crd_of(const plan::Dialect& dialect) {
  const plan::Identity& identity = dialect.identity();
  const json::Value version =
      json::Object{{"name", identity.resource.version},
                   {"served", true},
                   {"storage", true},
                   {"subresources", subresources_of(identity)},
                   {"additionalPrinterColumns", columns_of(identity)},
                   {"schema", json::Object{{"openAPIV3Schema", dialect.schema()}}}};
  return json::Object{
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata",
       json::Object{{"name", identity.resource.qualified()},
                    // helm uninstall leaves it, and all jobs with it.
                    {"annotations", json::Object{{"helm.sh/resource-policy", "keep"}}}}},
      {"spec", json::Object{{"group", identity.resource.group},
                            {"scope", "Namespaced"},
                            {"names", names_of(identity)},
                            {"versions", json::Array{version}}}}};
}

}  // namespace muster::deploy
