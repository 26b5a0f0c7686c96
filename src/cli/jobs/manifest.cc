#include "cli/jobs/manifest.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "cli/command_line/suggest.h"
#include "cli/manifests/manifest_files.h"
#include "yaml/yaml.h"

namespace muster::cli {
namespace {

const std::vector<api::Resource>& plain_kinds() {
  static const std::vector<api::Resource> kinds = {api::config_maps(),
                                                   api::secrets(),
                                                   api::services(),
                                                   api::service_accounts(),
                                                   api::pods(),
                                                   api::namespaces(),
                                                   api::persistent_volume_claims(),
                                                   api::persistent_volumes(),
                                                   api::storage_classes(),
                                                   api::roles(),
                                                   api::role_bindings()};
  return kinds;
}

// Kind (group/version), … for messages.
std::string known_kinds(const plan::Registry& registry) {
  std::vector<std::string> known;
  for (const auto& dialect : registry.all()) {
    const api::Resource& resource = dialect->identity().resource;
    known.push_back(fmt::format("{} ({})", resource.kind, resource.api_version()));
  }
  return join(known, ", ");
}

std::vector<std::string> kind_names(const plan::Registry& registry) {
  std::vector<std::string> names;
  for (const auto& dialect : registry.all()) names.push_back(dialect->identity().resource.kind);
  for (const api::Resource& resource : plain_kinds()) names.push_back(resource.kind);
  return names;
}

std::string shown(const std::string& file) {
  return file == "-" ? "standard input" : file;
}

std::string a_value(const json::Value& value) {
  if (value.is_null()) return "nothing";
  const std::string_view type = value.type_name();
  return fmt::format("{} {}", type == "array" || type == "integer" ? "an" : "a", type);
}

Result<Manifest> recognise(const yaml::Document& document, const std::string& file,
                           const plan::Registry& registry) {
  Manifest manifest{.source = fmt::format("{}:{}", shown(file), document.line),
                    .object = document.value,
                    .file = file};
  const auto bad = [&](std::string message) {
    return fail(ErrorCode::BadRequest, fmt::format("{}: {}", manifest.source, message));
  };
  if (!document.value.is_object())
    return bad(fmt::format("a Kubernetes object is needed, this is {}", a_value(document.value)));
  const std::string& api_version = api::api_version_of(document.value);
  const std::string& kind = api::kind_of(document.value);
  if (api_version.empty())
    return bad("apiVersion is missing; known job kinds: " + known_kinds(registry));
  if (kind.empty()) return bad("kind is missing; known job kinds: " + known_kinds(registry));
  manifest.dialect = registry.find(api_version, kind);
  if (manifest.dialect != nullptr) {
    manifest.resource = manifest.dialect->identity().resource;
    return manifest;
  }
  for (const api::Resource& resource : plain_kinds()) {
    if (resource.kind == kind && resource.api_version() == api_version) {
      manifest.resource = resource;
      return manifest;
    }
  }
  const auto names = kind_names(registry);
  // A kind that there is has another apiVersion.
  const std::string meant =
      std::ranges::find(names, kind) == names.end() ? did_you_mean(kind, names) : "";
  return bad(fmt::format("no kind {} in {}{}", printable(kind), printable(api_version),
                         meant.empty() ? "; known job kinds: " + known_kinds(registry) : meant));
}

}  // namespace

Result<void> check_manifest(Manifest& manifest, const std::string& ns, TargetKind target) {
  json::Value& metadata = manifest.object["metadata"];
  if (!metadata.is_object()) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("{}: metadata is missing; at least metadata.name is needed", manifest.source));
  }
  if (metadata["name"].as_string().empty() && metadata["generateName"].as_string().empty()) {
    return fail(ErrorCode::Invalid, fmt::format("{}: metadata.name is required", manifest.source));
  }
  if (manifest.resource.namespaced() && metadata["namespace"].as_string().empty())
    metadata["namespace"] = ns;
  if (manifest.dialect == nullptr) return {};
  if (target == TargetKind::Kubernetes && manifest.dialect->identity().embedded_only) return {};
  auto causes = manifest.dialect->validate(manifest.object);
  if (causes.empty()) return {};
  std::vector<std::string> sentences;
  for (const auto& cause : causes)
    sentences.push_back(fmt::format("{}: {}", cause.field, cause.message));
  return fail(Error{
      .code = ErrorCode::Invalid,
      .message = fmt::format("{} {} ({}) is invalid: {}", manifest.resource.kind,
                             api::name_of(manifest.object), manifest.source, join(sentences, "; ")),
      .causes = std::move(causes)});
}

Result<std::vector<Manifest>> read_manifests(const std::vector<std::string>& named,
                                             const plan::Registry& registry,
                                             const std::vector<std::string>& others) {
  std::vector<Manifest> manifests;
  for (const std::string& file : TRY(manifest_files(named, others))) {
    const auto text = std::make_shared<const std::string>(TRY(read_manifest_file(file)));
    const auto documents = yaml::read(*text);
    if (!documents) return fail(documents.error().in(shown(file)));
    for (std::size_t i = 0; i < documents->size(); ++i) {
      manifests.push_back(TRY(recognise((*documents)[i], file, registry)));
      manifests.back().text = text;
      manifests.back().document = i;
    }
  }
  if (manifests.empty()) {
    std::vector<std::string> places;
    for (const std::string& name : named) places.push_back(shown(name));
    return fail(ErrorCode::BadRequest, fmt::format("{}: no document in it", join(places, ", ")));
  }
  return manifests;
}

Result<std::vector<Manifest>> load_manifests(const std::vector<std::string>& named,
                                             const plan::Registry& registry, const std::string& ns,
                                             TargetKind target) {
  auto manifests = TRY(read_manifests(named, registry));
  for (Manifest& manifest : manifests) TRY(check_manifest(manifest, ns, target));
  return manifests;
}

}  // namespace muster::cli
