#include "cli/objects/absent.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/command_line/suggest.h"
#include "cli/jobs/listing.h"

namespace muster::cli {
namespace {

constexpr std::string_view kInstall = "kubectl apply --server-side -f deploy/install.yaml";

struct Neighbours {
  std::set<std::string> here;        // names in the namespace
  std::set<std::string> pods;        // there, where a name may be a pod's
  std::set<std::string> namespaces;  // others that have that very name
  bool none_of_ours = false;         // the server knows none of our kinds
};

Task<Neighbours> look_around(cluster::Cluster& cluster, std::string ns, ObjectName name) {
  Neighbours found;
  bool known = false;
  for (const NamedResource& kind : name.kinds) {
    auto objects = co_await list_all(cluster, kind.resource, {});
    if (!objects && objects.error().code == ErrorCode::Forbidden)
      objects = co_await list_all(cluster, kind.resource, {.ns = ns});
    const bool absent = !objects && objects.error().code == ErrorCode::NotFound;
    // Jobs of batch/v1 are everywhere: they do not tell whether our kinds are installed.
    const bool tells = kind.dialect == nullptr || !kind.dialect->identity().embedded_only ||
                       name.kinds.size() == 1;
    known = known || (tells && !absent);
    if (!objects) continue;
    for (const auto& object : *objects) {
      const std::string& where = api::namespace_of(*object);
      if (where.empty() || where == ns)
        found.here.insert(api::name_of(*object));
      else if (api::name_of(*object) == name.name)
        found.namespaces.insert(where);
    }
  }
  found.none_of_ours = !known;
  if (!name.bare) co_return found;
  if (const auto pods = co_await list_all(cluster, api::pods(), {.ns = ns})) {
    for (const auto& pod : *pods) found.pods.insert(api::name_of(*pod));
  }
  co_return found;
}

std::string hint_for(const Context& context, const Neighbours& around, const ObjectName& name) {
  if (!around.namespaces.empty()) {
    return fmt::format("; there is one in {}",
                       join({around.namespaces.begin(), around.namespaces.end()}, ", "));
  }
  std::string hint = did_you_mean(name.name, {around.here.begin(), around.here.end()});
  if (hint.empty()) hint = did_you_mean(name.name, {around.pods.begin(), around.pods.end()});
  if (!hint.empty() || !name.bare) return hint;
  return resources_named(context.registry, name.name)
             ? "; a type comes before the names, or as TYPE/NAME"
             : did_you_mean(name.name, known_resources(context.registry));
}

}  // namespace

Error absent_kind(const api::Resource& resource) {
  return {.code = ErrorCode::NotFound,
          .message = fmt::format("the cluster does not know {}; install it with: {}",
                                 resource.qualified(), kInstall)};
}

std::string absent_kinds() {
  return fmt::format("the cluster knows none of Muster's kinds; install them with: {}", kInstall);
}

Task<Error> absent_object(const Context& context, cluster::Cluster& cluster, std::string ns,
                          ObjectName name) {
  const Neighbours around = co_await look_around(cluster, ns, name);
  const api::Resource& resource = name.kinds.front().resource;
  Error error{.code = ErrorCode::NotFound};
  const bool any_kind = name.bare || name.kinds.size() > 1;
  if (!any_kind && !around.none_of_ours) {
    error.message = fmt::format("{} \"{}\" not found{}", resource.qualified(), printable(name.name),
                                hint_for(context, around, name));
    co_return error;
  }
  if (around.none_of_ours) {
    error.message = any_kind ? absent_kinds() : absent_kind(resource).message;
    co_return error;
  }
  std::string hint = hint_for(context, around, name);
  if (hint.empty()) hint = fmt::format("; see: {}", context.command("get -A"));
  error.message = fmt::format("no job \"{}\" in namespace {}{}", printable(name.name), ns, hint);
  co_return error;
}

}  // namespace muster::cli
