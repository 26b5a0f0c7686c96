#include "api/resource.h"

namespace muster::api {

std::string Resource::api_version() const {
  return group.empty() ? version : group + "/" + version;
}

std::string Resource::qualified() const {
  return group.empty() ? plural : plural + "." + group;
}

std::string ObjectKey::text() const {
  return ns.empty() ? name : ns + "/" + name;
}

const Resource& pods() {
  static const Resource resource{.version = "v1", .plural = "pods", .kind = "Pod"};
  return resource;
}

const Resource& services() {
  static const Resource resource{.version = "v1", .plural = "services", .kind = "Service"};
  return resource;
}

const Resource& config_maps() {
  static const Resource resource{.version = "v1", .plural = "configmaps", .kind = "ConfigMap"};
  return resource;
}

const Resource& secrets() {
  static const Resource resource{.version = "v1", .plural = "secrets", .kind = "Secret"};
  return resource;
}

const Resource& service_accounts() {
  static const Resource resource{
      .version = "v1", .plural = "serviceaccounts", .kind = "ServiceAccount"};
  return resource;
}

const Resource& events() {
  static const Resource resource{.version = "v1", .plural = "events", .kind = "Event"};
  return resource;
}

const Resource& nodes() {
  static const Resource resource{
      .version = "v1", .plural = "nodes", .kind = "Node", .scope = Scope::Cluster};
  return resource;
}

const Resource& leases() {
  static const Resource resource{
      .group = "coordination.k8s.io", .version = "v1", .plural = "leases", .kind = "Lease"};
  return resource;
}

const Resource& namespaces() {
  static const Resource resource{
      .version = "v1", .plural = "namespaces", .kind = "Namespace", .scope = Scope::Cluster};
  return resource;
}

const Resource& persistent_volume_claims() {
  static const Resource resource{
      .version = "v1", .plural = "persistentvolumeclaims", .kind = "PersistentVolumeClaim"};
  return resource;
}

const Resource& persistent_volumes() {
  static const Resource resource{.version = "v1",
                                 .plural = "persistentvolumes",
                                 .kind = "PersistentVolume",
                                 .scope = Scope::Cluster};
  return resource;
}

const Resource& storage_classes() {
  static const Resource resource{.group = "storage.k8s.io",
                                 .version = "v1",
                                 .plural = "storageclasses",
                                 .kind = "StorageClass",
                                 .scope = Scope::Cluster};
  return resource;
}

const Resource& roles() {
  static const Resource resource{
      .group = "rbac.authorization.k8s.io", .version = "v1", .plural = "roles", .kind = "Role"};
  return resource;
}

const Resource& cluster_roles() {
  static const Resource resource{.group = "rbac.authorization.k8s.io",
                                 .version = "v1",
                                 .plural = "clusterroles",
                                 .kind = "ClusterRole",
                                 .scope = Scope::Cluster};
  return resource;
}

const Resource& role_bindings() {
  static const Resource resource{.group = "rbac.authorization.k8s.io",
                                 .version = "v1",
                                 .plural = "rolebindings",
                                 .kind = "RoleBinding"};
  return resource;
}

const Resource& cluster_role_bindings() {
  static const Resource resource{.group = "rbac.authorization.k8s.io",
                                 .version = "v1",
                                 .plural = "clusterrolebindings",
                                 .kind = "ClusterRoleBinding",
                                 .scope = Scope::Cluster};
  return resource;
}

}  // namespace muster::api
