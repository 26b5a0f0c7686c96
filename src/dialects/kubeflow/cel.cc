#include "dialects/kubeflow/cel.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "dialects/check/messages.h"
#include "dialects/kubeflow/rules.h"

namespace muster::dialects::kubeflow {
namespace {

// How the rules of a kind name the parts of one replica spec. `specs` is the map or list of them,
// and the loop variable of every rule is `r`: a key of the map, or an element of the list.
struct Names {
  std::string specs;
  std::string role;      // in lower case for a map, whose keys may be spelled in any case
  std::string replicas;  // may be absent

  [[nodiscard]] std::string count() const { return fmt::format("(has({0}) ? {0} : 1)", replicas); }
};

Names names_of(const Kind& kind, std::string specs) {
  if (kind.replicas.is_list()) {
    return {.specs = std::move(specs),
            .role = fmt::format("(has(r.{0}) ? r.{0} : '{1}')", kind.replicas.role_member,
                                kind.replicas.default_role),
            .replicas = "r.replicas"};
  }
  return {.specs = specs, .role = "r.lowerAscii()", .replicas = specs + "[r].replicas"};
}

std::string literal(const Kind& kind, std::string_view role) {
  return fmt::format("'{}'", kind.replicas.is_list() ? std::string(role) : to_lower(role));
}

void add_role_rules(const Kind& kind, const Names& names, std::vector<CelRule>& out) {
  const std::string at = fmt::format("spec.{}", kind.replicas.field);
  if (!kind.replicas.is_list()) {
    std::vector<std::string> literals;
    for (const RoleKind& role : kind.roles) literals.push_back(literal(kind, role.name));
    out.push_back({.at = at,
                   .rule = fmt::format("self.all(r, {} in [{}])", names.role, join(literals, ", ")),
                   .message = fmt::format("the roles are {}", listed(role_names(kind)))});
  }
  for (const RoleKind& role : kind.roles) {
    const std::string is_it = fmt::format("{} == {}", names.role, literal(kind, role.name));
    if (kind.replicas.is_list()) {
      out.push_back({.at = at,
                     .rule = fmt::format("self.filter(r, {}).size() <= 1", is_it),
                     .message = fmt::format("{} is there twice; keep one of the two", role.name)});
    }
    if (role.required) {
      out.push_back({.at = at,
                     .rule = fmt::format("self.exists(r, {})", is_it),
                     .message = role_missing(role),
                     .reason = "FieldValueRequired"});
    }
    if (role.least == 0 && role.most == kMostPods) continue;
    out.push_back({.at = at,
                   .rule = fmt::format("self.all(r, !({}) || ({} >= {} && {} <= {}))", is_it,
                                       names.count(), role.least, names.count(), role.most),
                   .message = fmt::format("{}: replicas {}{}{}", role.name, role_limits(role),
                                          role.why.empty() ? "" : ": ", role.why)});
  }
  out.push_back(
      {.at = at,
       .rule = fmt::format("self.map(r, {}).sum() <= {}", names.count(), kMostPods),
       .message = fmt::format("asks for too many pods; at most {} are allowed", kMostPods)});
}

}  // namespace

std::vector<CelRule> cel_rules(const Kind& kind) {
  std::vector<CelRule> out;
  add_role_rules(kind, names_of(kind, "self"), out);
  const std::string specs = fmt::format("self.{}", kind.replicas.field);
  out.push_back(
      {.at = "spec",
       .rule = fmt::format("!has(self.runPolicy) || !has(self.runPolicy.schedulingPolicy) || "
                           "!has(self.runPolicy.schedulingPolicy.minAvailable) || "
                           "self.runPolicy.schedulingPolicy.minAvailable <= {}.map(r, {}).sum()",
                           specs, names_of(kind, specs).count()),
       .message = "runPolicy.schedulingPolicy.minAvailable must be at most the number of pods of "
                  "the job"});
  out.push_back(
      {.at = "spec",
       .rule = "(has(self.runPolicy) && has(self.runPolicy.managedBy) ? self.runPolicy.managedBy : "
               "'') == (has(oldSelf.runPolicy) && has(oldSelf.runPolicy.managedBy) ? "
               "oldSelf.runPolicy.managedBy : '')",
       .message = "runPolicy.managedBy cannot be changed",
       .reason = "FieldValueForbidden"});
  out.insert(out.end(), kind.rules.begin(), kind.rules.end());
  return out;
}

}  // namespace muster::dialects::kubeflow
