#include "cli/jobs/resource_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cli {
namespace {

struct BuiltIn {
  const api::Resource& (*resource)();
  std::vector<std::string> names;
};

const std::vector<BuiltIn>& built_in() {
  static const std::vector<BuiltIn> kinds = {
      {api::pods, {"pods", "pod", "po"}},
      {api::services, {"services", "service", "svc"}},
      {api::config_maps, {"configmaps", "configmap", "cm"}},
      {api::secrets, {"secrets", "secret"}},
      {api::service_accounts, {"serviceaccounts", "serviceaccount", "sa"}},
      {api::events, {"events", "event", "ev"}},
      {api::nodes, {"nodes", "node", "no"}},
      {api::leases, {"leases", "lease"}},
      {api::namespaces, {"namespaces", "namespace", "ns"}},
  };
  return kinds;
}

bool names_kind(const plan::Identity& identity, const std::string& name) {
  if (name == identity.resource.plural || name == identity.singular ||
      name == identity.resource.qualified())
    return true;
  return equal_ignoring_case(name, identity.resource.kind) ||
         std::ranges::find(identity.short_names, name) != identity.short_names.end();
}

}  // namespace

Result<std::vector<api::Resource>> resources_named(const plan::Registry& registry,
                                                   const std::string& name) {
  std::vector<api::Resource> found;
  const bool every_job = name == "jobs" || name == "job" || name == "training";
  for (const auto& dialect : registry.all()) {
    if (every_job || names_kind(dialect->identity(), name))
      found.push_back(dialect->identity().resource);
  }
  for (const BuiltIn& kind : built_in()) {
    if (std::ranges::find(kind.names, name) != kind.names.end()) found.push_back(kind.resource());
  }
  if (!found.empty()) return found;
  std::vector<std::string> known = {"jobs"};
  for (const auto& dialect : registry.all()) known.push_back(dialect->identity().resource.plural);
  for (const BuiltIn& kind : built_in()) known.push_back(kind.names.front());
  return fail(ErrorCode::BadRequest,
              fmt::format("no resource \"{}\"; known: {}", printable(name), join(known, ", ")));
}

}  // namespace muster::cli
