#include "rights.h"

#include <map>
#include <set>
#include <string>

#include "api/resource.h"

namespace muster::deploy {
namespace {

using Names = std::set<std::string>;
using ByGroup = std::map<std::string, Names>;

json::Array list(const Names& names) {
  json::Array out;
  for (const std::string& name : names) out.emplace_back(name);
  return out;
}

json::Value rule(const std::string& group, const Names& resources, const json::Array& verbs) {
  return json::Object{
      {"apiGroups", json::Array{group}}, {"resources", list(resources)}, {"verbs", verbs}};
}

Names with_suffix(const Names& names, std::string_view suffix) {
  Names out;
  for (const std::string& name : names) out.insert(name + std::string(suffix));
  return out;
}

// Whether a schema has a field of that name, at any depth.
bool has_field(const json::Value& schema, std::string_view name) {
  if (schema["properties"].as_object().contains(name)) return true;
  for (const auto& [key, property] : schema["properties"].as_object()) {
    if (has_field(property, name)) return true;
  }
  return false;
}

}  // namespace

json::Array rules_for(const plan::Registry& registry) {
  ByGroup jobs;
  ByGroup held;      // by a finalizer that is ours to take off
  ByGroup expiring;  // deleted a while after their end, where the job says so
  ByGroup children{{"", {api::pods().plural}}};
  Names leases;
  bool secrets = false;
  for (const auto& dialect : registry.all()) {
    if (dialect->identity().embedded_only) continue;
    const plan::Identity& identity = dialect->identity();
    jobs[identity.resource.group].insert(identity.resource.plural);
    if (!identity.foreign_finalizer.empty()) {
      held[identity.resource.group].insert(identity.resource.plural);
    }
    if (has_field(dialect->schema(), "ttlSecondsAfterFinished")) {
      expiring[identity.resource.group].insert(identity.resource.plural);
    }
    for (const auto* list : {&identity.children, &identity.optional_children}) {
      for (const api::Resource& child : *list) children[child.group].insert(child.plural);
    }
    secrets |= identity.makes_secrets;
    if (!identity.foreign_lease.empty()) leases.insert(identity.foreign_lease);
  }
  json::Array rules;
  for (const auto& [group, names] : jobs) {
    rules.push_back(rule(group, names, {"get", "list", "watch"}));
    rules.push_back(rule(group, with_suffix(names, "/status"), {"update"}));
    // Children block the deletion of their owner; some clusters ask for this right to say so.
    rules.push_back(rule(group, with_suffix(names, "/finalizers"), {"update"}));
  }
  for (const auto& [group, names] : expiring) rules.push_back(rule(group, names, {"delete"}));
  for (const auto& [group, names] : held) rules.push_back(rule(group, names, {"update"}));
  for (const auto& [group, names] : children) {
    rules.push_back(rule(group, names, {"get", "list", "watch", "create", "delete"}));
  }
  // Keys of jobs: made, and never looked at again.
  if (secrets) rules.push_back(rule("", {api::secrets().plural}, {"create"}));
  rules.push_back(rule("", {api::events().plural}, {"create"}));
  if (!leases.empty()) {
    // The leases of the operators that we replace: both at once would fight over the same jobs.
    json::Value look = rule(api::leases().group, {api::leases().plural}, {"list"});
    look["resourceNames"] = list(leases);
    rules.push_back(std::move(look));
  }
  return rules;
}

}  // namespace muster::deploy
