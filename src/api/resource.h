#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "json/value.h"

namespace muster::api {

// One stored Kubernetes object. Shared, never changed: a change is a new object.
using ObjectPtr = std::shared_ptr<const json::Value>;

enum class Scope { Namespaced, Cluster };

// A kind as the API names it. Compared by group and plural.
struct Resource {
  std::string group;  // "" for core
  std::string version;
  std::string plural;
  std::string kind;
  Scope scope = Scope::Namespaced;

  // v1, coordination.k8s.io/v1
  [[nodiscard]] std::string api_version() const;
  // pods, leases.coordination.k8s.io
  [[nodiscard]] std::string qualified() const;
  [[nodiscard]] bool namespaced() const { return scope == Scope::Namespaced; }

  friend bool operator==(const Resource& a, const Resource& b) {
    return a.group == b.group && a.plural == b.plural;
  }
  friend auto operator<=>(const Resource& a, const Resource& b) {
    if (auto order = a.group <=> b.group; order != 0) return order;
    return a.plural <=> b.plural;
  }
};

// Built-in resources that Muster itself reads or writes.
const Resource& pods();
const Resource& services();
const Resource& config_maps();
const Resource& secrets();
const Resource& service_accounts();
const Resource& events();  // core/v1
const Resource& nodes();
const Resource& leases();
const Resource& namespaces();
const Resource& persistent_volume_claims();
const Resource& persistent_volumes();
const Resource& storage_classes();
const Resource& roles();
const Resource& cluster_roles();
const Resource& role_bindings();
const Resource& cluster_role_bindings();

// Namespace and name; the namespace is empty for cluster-scoped kinds.
struct ObjectKey {
  std::string ns;
  std::string name;

  // ns/name, or name alone
  [[nodiscard]] std::string text() const;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

}  // namespace muster::api
