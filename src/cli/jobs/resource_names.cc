#include "cli/jobs/resource_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/command_line/suggest.h"
#include "cli/context.h"
#include "cli/print_error.h"

namespace muster::cli {
namespace {

// A resource that Kubernetes has by itself, and what it is called beside its plural and kind.
struct BuiltIn {
  const api::Resource& (*resource)();
  std::string_view short_name;
};

const std::vector<BuiltIn>& built_in() {
  static const std::vector<BuiltIn> kinds = {
      {api::pods, "po"},
      {api::services, "svc"},
      {api::config_maps, "cm"},
      {api::secrets, ""},
      {api::service_accounts, "sa"},
      {api::events, "ev"},
      {api::nodes, "no"},
      {api::leases, ""},
      {api::namespaces, "ns"},
      {api::persistent_volume_claims, "pvc"},
      {api::persistent_volumes, "pv"},
      {api::storage_classes, "sc"},
      {api::roles, ""},
      {api::role_bindings, ""},
      {api::cluster_roles, ""},
      {api::cluster_role_bindings, ""},
  };
  return kinds;
}

// Whether what follows the first dot, if anything does, is the group, or version and group.
bool names_group(std::string_view name, const api::Resource& resource) {
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return true;
  const std::string_view rest = name.substr(dot + 1);
  if (resource.group.empty()) return rest == resource.version;
  return rest == resource.group || rest == fmt::format("{}.{}", resource.version, resource.group);
}

bool names_built_in(const BuiltIn& kind, std::string_view name) {
  const api::Resource& resource = kind.resource();
  const std::string_view word = name.substr(0, name.find('.'));
  const bool called = equal_ignoring_case(word, resource.plural) ||
                      equal_ignoring_case(word, resource.kind) ||
                      (!word.empty() && word == kind.short_name);
  return called && names_group(name, resource);
}

bool is_every_job(std::string_view name) {
  return name == "jobs" || name == "job" || name == "training";
}

std::string with_version(const api::Resource& resource) {
  return fmt::format("{}.{}.{}", resource.plural, resource.version, resource.group);
}

std::vector<NamedResource> matching_kinds(const plan::Registry& registry, std::string_view name) {
  std::vector<NamedResource> found;
  for (const auto& dialect : registry.all()) {
    if (is_every_job(name) || names_kind(dialect->identity(), name))
      found.push_back({.resource = dialect->identity().resource, .dialect = dialect.get()});
  }
  return found;
}

}  // namespace

bool names_kind(const plan::Identity& identity, std::string_view name) {
  const api::Resource& resource = identity.resource;
  const std::string_view word = name.substr(0, name.find('.'));
  const bool called = equal_ignoring_case(word, resource.plural) || word == identity.singular ||
                      equal_ignoring_case(word, resource.kind) ||
                      std::ranges::find(identity.short_names, word) != identity.short_names.end();
  return called && names_group(name, resource);
}

Result<std::vector<NamedResource>> resources_named(const plan::Registry& registry,
                                                   std::string_view name) {
  auto kinds = matching_kinds(registry, name);
  if (kinds.size() > 1 && !is_every_job(name)) {
    std::vector<std::string> spellings;
    for (const auto& kind : kinds) spellings.push_back(full_spelling(registry, *kind.dialect));
    return fail(ErrorCode::BadRequest,
                fmt::format("\"{}\" names {} kinds; say which: {}", printable(name), kinds.size(),
                            join(spellings, " or ")));
  }
  if (!kinds.empty()) return kinds;
  for (const BuiltIn& kind : built_in()) {
    if (names_built_in(kind, name))
      return std::vector<NamedResource>{{.resource = kind.resource()}};
  }
  const auto known = known_resources(registry);
  return fail(ErrorCode::NotFound, fmt::format("no resource \"{}\"{}; known: {}", printable(name),
                                               did_you_mean(name, known), join(known, ", ")));
}

std::vector<std::string> known_resources(const plan::Registry& registry) {
  std::vector<std::string> known = {"jobs"};
  for (const auto& dialect : registry.all()) known.push_back(short_spelling(registry, *dialect));
  for (const BuiltIn& kind : built_in()) known.push_back(kind.resource().plural);
  return known;
}

Result<std::vector<NamedResource>> resources_listed(const plan::Registry& registry,
                                                    std::string_view names) {
  std::vector<NamedResource> all;
  for (const std::string_view name : split(names, ',')) {
    for (NamedResource& one : TRY(resources_named(registry, name))) {
      if (std::ranges::find(all, one.resource, &NamedResource::resource) == all.end())
        all.push_back(std::move(one));
    }
  }
  return all;
}

int refuse_resource(Output& output, const Error& error) {
  print_error(output, error);
  return error.code == ErrorCode::BadRequest ? exit_code::kUsage : exit_code::kFailed;
}

std::string short_spelling(const plan::Registry& registry, const plan::Dialect& dialect) {
  const std::string& plural = dialect.identity().resource.plural;
  return matching_kinds(registry, plural).size() == 1 ? plural : full_spelling(registry, dialect);
}

std::string full_spelling(const plan::Registry& registry, const plan::Dialect& dialect) {
  const api::Resource& resource = dialect.identity().resource;
  const bool alone = matching_kinds(registry, resource.qualified()).size() == 1;
  return alone ? resource.qualified() : with_version(resource);
}

}  // namespace muster::cli
