#include "server/rules/role_rules.h"

#include <fmt/format.h>

namespace muster::server {
namespace {

constexpr const char* kGroup = "rbac.authorization.k8s.io";

// A list of strings with at least one; a malformed one would silently grant nothing.
void check_texts(const json::Value& list, const std::string& at, bool required, Causes& causes) {
  if (list.is_null() && !required) return;
  if (!list.is_array()) {
    if (list.is_null()) return causes.required(at);
    return causes.invalid(at, list, "must be a list of strings");
  }
  if (required && list.as_array().empty()) return causes.required(at);
  for (const json::Value& each : list.as_array()) {
    if (!each.is_string()) causes.invalid(at, each, "must be a string");
  }
}

void check_rule(const Kind& kind, const json::Value& rule, const std::string& at, Causes& causes) {
  if (!rule.is_object()) return causes.invalid(at, rule, "must be an object");
  check_texts(rule["verbs"], at + ".verbs", true, causes);
  check_texts(rule["resourceNames"], at + ".resourceNames", false, causes);
  const json::Value& paths = rule["nonResourceURLs"];
  if (!paths.is_null() && !paths.as_array().empty()) {
    check_texts(paths, at + ".nonResourceURLs", true, causes);
    if (kind.resource.namespaced()) {
      causes.invalid(at + ".nonResourceURLs", paths,
                     "namespaced rules cannot apply to non-resource URLs");
    }
    if (!rule["apiGroups"].as_array().empty() || !rule["resources"].as_array().empty()) {
      causes.invalid(at + ".nonResourceURLs", paths,
                     "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  check_texts(rule["apiGroups"], at + ".apiGroups", true, causes);
  check_texts(rule["resources"], at + ".resources", true, causes);
}

void check_subject(const json::Value& subject, const std::string& at, Causes& causes) {
  if (!subject.is_object()) return causes.invalid(at, subject, "must be an object");
  if (subject["name"].as_string().empty()) causes.required(at + ".name");
  const std::string& kind = subject["kind"].as_string();
  const std::string& group = subject["apiGroup"].as_string();
  if (kind == "ServiceAccount") {
    if (subject["namespace"].as_string().empty()) causes.required(at + ".namespace");
    if (!group.empty())
      causes.invalid(at + ".apiGroup", group, "must be empty for a ServiceAccount");
  } else if (kind == "User" || kind == "Group") {
    if (group != kGroup) causes.invalid(at + ".apiGroup", group, fmt::format("must be {}", kGroup));
  } else {
    causes.invalid(at + ".kind", kind, "must be ServiceAccount, User or Group");
  }
}

}  // namespace

bool is_role(const Kind& kind) {
  return kind.is(api::roles()) || kind.is(api::cluster_roles());
}

bool is_role_binding(const Kind& kind) {
  return kind.is(api::role_bindings()) || kind.is(api::cluster_role_bindings());
}

void default_role_binding(json::Value& binding) {
  const auto default_group = [](json::Value& reference) {
    if (reference.is_object() && std::as_const(reference)["apiGroup"].as_string().empty())
      reference["apiGroup"] = kGroup;
  };
  default_group(binding["roleRef"]);
  if (!std::as_const(binding)["subjects"].is_array()) return;
  for (json::Value& subject : binding["subjects"].array()) {
    const std::string kind = std::as_const(subject)["kind"].as_string();
    if (kind == "User" || kind == "Group") default_group(subject);
  }
}

void check_role(const Kind& kind, const json::Value& role, Causes& causes) {
  const json::Value& rules = role["rules"];
  if (!rules.is_null() && !rules.is_array())
    return causes.invalid("rules", rules, "must be a list");
  for (std::size_t i = 0; i < rules.as_array().size(); ++i)
    check_rule(kind, rules[i], fmt::format("rules[{}]", i), causes);
  if (!role["aggregationRule"].is_null()) {
    causes.invalid("aggregationRule", "…",
                   "is not known to this server; write the rules themselves");
  }
}

void check_role_binding(const Kind& kind, const json::Value& binding, Causes& causes) {
  const json::Value& reference = binding["roleRef"];
  const std::string& target = reference["kind"].as_string();
  if (reference["name"].as_string().empty()) causes.required("roleRef.name");
  if (reference["apiGroup"].as_string() != kGroup) {
    causes.invalid("roleRef.apiGroup", reference["apiGroup"], fmt::format("must be {}", kGroup));
  }
  if (target != "ClusterRole" && (target != "Role" || !kind.resource.namespaced())) {
    causes.invalid(
        "roleRef.kind", target,
        kind.resource.namespaced() ? "must be Role or ClusterRole" : "must be ClusterRole");
  }
  const json::Value& subjects = binding["subjects"];
  if (!subjects.is_null() && !subjects.is_array())
    return causes.invalid("subjects", subjects, "must be a list");
  for (std::size_t i = 0; i < subjects.as_array().size(); ++i)
    check_subject(subjects[i], fmt::format("subjects[{}]", i), causes);
}

void check_role_binding_update(const json::Value& old, const json::Value& binding, Causes& causes) {
  if (old["roleRef"] != binding["roleRef"])
    causes.invalid("roleRef", binding["roleRef"]["name"], "cannot change roleRef");
}

}  // namespace muster::server
