#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/resource.h"

// Who may do what, by Roles, ClusterRoles and their bindings. Pure functions of stored objects;
// what is malformed in them grants nothing.
namespace muster::server {

struct User {
  std::string name;
  std::vector<std::string> groups;
  bool admin = false;  // the owner of the home: may do everything
};

// system:serviceaccount:NAMESPACE:NAME with its groups.
User service_account_user(const std::string& ns, const std::string& account);

// One request, as rules see it.
struct Action {
  std::string verb;  // get, list, watch, create, update, patch, delete, deletecollection, …
  // Of a resource:
  std::string group;
  std::string resource;     // plural
  std::string subresource;  // may be empty
  std::string ns;           // empty: all namespaces, or the resource has none
  std::string name;         // empty: none in particular
  // Of something else: its path, and all of the above but the verb is empty.
  std::string path;

  [[nodiscard]] std::string resource_text() const {
    return subresource.empty() ? resource : resource + "/" + subresource;
  }
};

// The stored objects of the four kinds.
struct RoleObjects {
  using Objects = std::map<api::ObjectKey, api::ObjectPtr>;
  const Objects& roles;
  const Objects& cluster_roles;
  const Objects& role_bindings;
  const Objects& cluster_role_bindings;
};

// Nothing is granted but what a binding grants, and that every authenticated user may find out what
// the server is and which resources it has.
bool is_allowed(const RoleObjects& objects, const User& user, const Action& action);

// Kubernetes' sentence: pods is forbidden: User "…" cannot list resource "pods" in …
std::string forbidden_message(const User& user, const Action& action);

}  // namespace muster::server
