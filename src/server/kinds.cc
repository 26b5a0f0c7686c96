#include "server/kinds.h"

#include <algorithm>

#include "api/object.h"
#include "base/strings.h"

namespace muster::server {
namespace {

std::vector<Kind> built_in() {
  std::vector<Kind> kinds;
  kinds.push_back({.resource = api::namespaces(),
                   .singular = "namespace",
                   .short_names = {"ns"},
                   .has_status = true,
                   .answers_object = true,
                   .fields = {"status.phase"}});
  kinds.push_back({.resource = api::pods(),
                   .singular = "pod",
                   .short_names = {"po"},
                   .categories = {"all"},
                   .has_status = true,
                   .counts_generation = true,
                   .answers_object = true,
                   .fields = {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                              "spec.serviceAccountName", "spec.hostNetwork", "status.phase",
                              "status.podIP", "status.nominatedNodeName"}});
  kinds.push_back({.resource = api::services(),
                   .singular = "service",
                   .short_names = {"svc"},
                   .categories = {"all"},
                   .has_status = true,
                   .answers_object = true,
                   .fields = {"spec.clusterIP", "spec.type"}});
  kinds.push_back({.resource = api::config_maps(), .singular = "configmap", .short_names = {"cm"}});
  kinds.push_back({.resource = api::secrets(), .singular = "secret", .fields = {"type"}});
  kinds.push_back({.resource = api::service_accounts(),
                   .singular = "serviceaccount",
                   .short_names = {"sa"},
                   .answers_object = true});
  kinds.push_back(
      {.resource = api::events(),
       .singular = "event",
       .short_names = {"ev"},
       .fields = {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
                  "involvedObject.uid", "involvedObject.apiVersion",
                  "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
                  "reportingComponent", "source", "type"}});
  kinds.push_back({.resource = api::nodes(),
                   .singular = "node",
                   .short_names = {"no"},
                   .has_status = true,
                   .keeps_status = true,
                   .fields = {"spec.unschedulable"}});
  kinds.push_back({.resource = api::leases(), .singular = "lease"});
  kinds.push_back({.resource = api::persistent_volume_claims(),
                   .singular = "persistentvolumeclaim",
                   .short_names = {"pvc"},
                   .has_status = true,
                   .answers_object = true});
  kinds.push_back({.resource = api::persistent_volumes(),
                   .singular = "persistentvolume",
                   .short_names = {"pv"},
                   .has_status = true,
                   .answers_object = true});
  kinds.push_back({.resource = api::storage_classes(),
                   .singular = "storageclass",
                   .short_names = {"sc"},
                   .answers_object = true});
  kinds.push_back({.resource = api::roles(), .singular = "role"});
  kinds.push_back({.resource = api::cluster_roles(), .singular = "clusterrole"});
  kinds.push_back({.resource = api::role_bindings(), .singular = "rolebinding"});
  kinds.push_back({.resource = api::cluster_role_bindings(), .singular = "clusterrolebinding"});
  return kinds;
}

}  // namespace

Kinds::Kinds(const plan::Registry& registry) : kinds_(built_in()) {
  for (const auto& dialect : registry.all()) {
    const plan::Identity& identity = dialect->identity();
    kinds_.push_back({.resource = identity.resource,
                      .singular = identity.singular,
                      .short_names = identity.short_names,
                      .categories = identity.categories,
                      .has_status = true,
                      .counts_generation = true,
                      .unconditional_update = identity.embedded_only,
                      .dialect = dialect.get()});
  }
  for (const auto& dialect : registry.all()) {
    for (const api::Resource& child : dialect->identity().optional_children) add_stored(child);
  }
}

void Kinds::add_stored(const api::Resource& resource) {
  if (find(resource) != nullptr) return;
  kinds_.push_back({.resource = resource,
                    .singular = to_lower(resource.kind),
                    .has_status = true,
                    .counts_generation = true});
}

const Kind* Kinds::find(const api::Resource& resource) const {
  const auto found = std::ranges::find(kinds_, resource, &Kind::resource);
  return found == kinds_.end() ? nullptr : &*found;
}

const Kind* Kinds::find(std::string_view group, std::string_view version,
                        std::string_view plural) const {
  const auto found = std::ranges::find_if(kinds_, [&](const Kind& kind) {
    return kind.resource.group == group && kind.resource.version == version &&
           kind.resource.plural == plural;
  });
  return found == kinds_.end() ? nullptr : &*found;
}

const Kind* Kinds::find_by_kind(std::string_view api_version, std::string_view kind_name) const {
  const std::string group = api::split_api_version(api_version).group;
  const auto found = std::ranges::find_if(kinds_, [&](const Kind& kind) {
    return kind.resource.group == group && kind.resource.kind == kind_name;
  });
  return found == kinds_.end() ? nullptr : &*found;
}

}  // namespace muster::server
