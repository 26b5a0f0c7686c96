#include "server/access/rbac.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "api/object.h"

namespace muster::server {
namespace {

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";
constexpr std::string_view kAuthenticated = "system:authenticated";

bool has(const json::Value& list, std::string_view wanted) {
  return std::ranges::any_of(list.as_array(), [&](const json::Value& each) {
    return each.is_string() && (each.as_string() == wanted || each.as_string() == "*");
  });
}

bool has_exactly(const json::Value& list, std::string_view wanted) {
  return std::ranges::any_of(list.as_array(), [&](const json::Value& each) {
    return each.is_string() && each.as_string() == wanted;
  });
}

bool has_resource(const json::Value& list, const Action& action) {
  if (has(list, action.resource_text())) return true;
  return !action.subresource.empty() && has_exactly(list, "*/" + action.subresource);
}

// /healthz, or /healthz/* for all below it.
bool covers_path(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with('*')) return pattern == path;
  return path.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool rule_allows(const json::Value& rule, const Action& action) {
  if (!has(rule["verbs"], action.verb)) return false;
  if (!action.path.empty()) {
    return std::ranges::any_of(rule["nonResourceURLs"].as_array(), [&](const json::Value& each) {
      return each.is_string() && covers_path(each.as_string(), action.path);
    });
  }
  if (!has(rule["apiGroups"], action.group) || !has_resource(rule["resources"], action))
    return false;
  const json::Value& names = rule["resourceNames"];
  // Names say which ones: a request that names none is not about those alone.
  return names.as_array().empty() || (!action.name.empty() && has_exactly(names, action.name));
}

bool role_allows(const json::Value& role, const Action& action) {
  return std::ranges::any_of(role["rules"].as_array(),
                             [&](const json::Value& rule) { return rule_allows(rule, action); });
}

bool is_subject(const json::Value& subject, const User& user, std::string_view binding_namespace) {
  const std::string& kind = subject["kind"].as_string();
  const std::string& name = subject["name"].as_string();
  const std::string& group = subject["apiGroup"].as_string();
  if (name.empty()) return false;
  if (kind == "ServiceAccount" && group.empty()) {
    std::string_view ns = subject["namespace"].as_string();
    if (ns.empty()) ns = binding_namespace;
    return !ns.empty() && user.name == fmt::format("system:serviceaccount:{}:{}", ns, name);
  }
  if (!group.empty() && group != kRbacGroup) return false;
  if (kind == "User") return name == user.name;
  return kind == "Group" && std::ranges::find(user.groups, name) != user.groups.end();
}

bool binds(const json::Value& binding, const User& user) {
  return std::ranges::any_of(binding["subjects"].as_array(), [&](const json::Value& subject) {
    return is_subject(subject, user, api::namespace_of(binding));
  });
}

const json::Value* find_role(const RoleObjects& objects, const json::Value& binding) {
  const json::Value& reference = binding["roleRef"];
  const std::string& group = reference["apiGroup"].as_string();
  if (!group.empty() && group != kRbacGroup) return nullptr;
  const bool cluster = reference["kind"].as_string() == "ClusterRole";
  const std::string& ns = api::namespace_of(binding);
  if (!cluster && (reference["kind"].as_string() != "Role" || ns.empty())) return nullptr;
  const auto& roles = cluster ? objects.cluster_roles : objects.roles;
  const auto found =
      roles.find({.ns = cluster ? std::string() : ns, .name = reference["name"].as_string()});
  return found == roles.end() ? nullptr : found->second.get();
}

bool binding_allows(const RoleObjects& objects, const json::Value& binding, const User& user,
                    const Action& action) {
  if (!binds(binding, user)) return false;
  const json::Value* role = find_role(objects, binding);
  return role != nullptr && role_allows(*role, action);
}

bool is_for_everybody(const User& user, const Action& action) {
  constexpr std::array kPaths = {"/healthz", "/livez", "/readyz", "/version", "/version/", "/api",
                                 "/api/*",   "/apis",  "/apis/*", "/openapi", "/openapi/*"};
  if (action.path.empty() || (action.verb != "get" && action.verb != "head")) return false;
  if (std::ranges::find(user.groups, kAuthenticated) == user.groups.end()) return false;
  return std::ranges::any_of(
      kPaths, [&](std::string_view pattern) { return covers_path(pattern, action.path); });
}

}  // namespace

User service_account_user(const std::string& ns, const std::string& account) {
  return {.name = fmt::format("system:serviceaccount:{}:{}", ns, account),
          .groups = {"system:serviceaccounts", fmt::format("system:serviceaccounts:{}", ns),
                     std::string(kAuthenticated)}};
}

bool is_allowed(const RoleObjects& objects, const User& user, const Action& action) {
  if (user.admin || is_for_everybody(user, action)) return true;
  for (const auto& [key, binding] : objects.cluster_role_bindings) {
    if (binding_allows(objects, *binding, user, action)) return true;
  }
  if (action.ns.empty() || !action.path.empty()) return false;
  const auto first = objects.role_bindings.lower_bound({.ns = action.ns, .name = ""});
  for (auto at = first; at != objects.role_bindings.end() && at->first.ns == action.ns; ++at) {
    if (binding_allows(objects, *at->second, user, action)) return true;
  }
  return false;
}

std::string forbidden_message(const User& user, const Action& action) {
  if (!action.path.empty()) {
    return fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"", user.name, action.verb,
                       action.path);
  }
  const std::string qualified =
      action.group.empty() ? action.resource : action.resource + "." + action.group;
  const std::string name = action.name.empty() ? "" : fmt::format(" \"{}\"", action.name);
  const std::string where = action.ns.empty() ? "at the cluster scope"
                                              : fmt::format("in the namespace \"{}\"", action.ns);
  return fmt::format(
      "{}{} is forbidden: User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}", qualified,
      name, user.name, action.verb, action.resource_text(), action.group, where);
}

}  // namespace muster::server
