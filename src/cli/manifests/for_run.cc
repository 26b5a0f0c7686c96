#include "cli/manifests/for_run.h"

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "cli/fields/schemas.h"
#include "cli/fields/unknown_fields.h"
#include "cli/manifests/edits.h"
#include "yaml/yaml.h"

namespace muster::cli {
namespace {

// job.yaml:14, where the file says so; what the command line added has no line.
std::string place_of(const Manifest& manifest, const std::string& path) {
  if (!manifest.text) return manifest.source;
  const auto documents = yaml::read_with_lines(*manifest.text);
  if (!documents || manifest.document >= documents->size()) return manifest.source;
  const auto& lines = (*documents)[manifest.document].lines;
  const auto found = lines.find(path);
  return found == lines.end() ? manifest.source
                              : fmt::format("{}:{}", manifest.file, found->second);
}

std::vector<FieldCause> unknown_causes(const Manifest& manifest) {
  const auto schema = schema_for(manifest.resource, manifest.dialect);
  std::vector<FieldCause> causes;
  for (const auto& field : unknown_fields(schema, manifest.dialect, manifest.object)) {
    std::string message = fmt::format("unknown field {}", field.path);
    if (!field.meant.empty()) message += fmt::format(", did you mean {}?", field.meant);
    causes.push_back({.field = place_of(manifest, field.path),
                      .reason = "FieldValueUnknown",
                      .message = std::move(message)});
  }
  return causes;
}

constexpr std::string_view kWayOut = "--validate=warn runs it all the same";

// What else is wrong is said with it: the field that is missing is often the one that is misspelt.
Error refusal(const Manifest& manifest, std::vector<FieldCause> unknown,
              const Result<void>& checked) {
  if (unknown.size() == 1 && checked) {
    const FieldCause& only = unknown.front();
    return {.code = ErrorCode::Invalid,
            .message = fmt::format("{}: {} ({})", only.field, only.message, kWayOut)};
  }
  if (!checked && checked.error().causes.empty()) return checked.error();
  std::vector<std::string> sentences;
  for (const auto& cause : unknown) {
    sentences.push_back(fmt::format("{}: {}", cause.field, cause.message));
  }
  if (!checked) {
    unknown.insert(unknown.end(), checked.error().causes.begin(), checked.error().causes.end());
  }
  return {
      .code = ErrorCode::Invalid,
      .message = fmt::format("{} {} ({}) has fields that nobody knows, and {}: {}",
                             manifest.resource.kind, api::name_of(manifest.object), manifest.source,
                             checked ? kWayOut : "is invalid", join(sentences, "; ")),
      .causes = std::move(unknown)};
}

Result<void> check(Context& context, const std::string& ns, Validation validation,
                   Manifest& manifest) {
  const auto target = context.wants_cluster() ? TargetKind::Kubernetes : TargetKind::Embedded;
  auto unknown =
      validation == Validation::Ignore ? std::vector<FieldCause>() : unknown_causes(manifest);
  const auto checked = check_manifest(manifest, ns, target);
  if (unknown.empty()) return checked;
  if (validation == Validation::Strict) {
    return fail(refusal(manifest, std::move(unknown), checked));
  }
  for (const auto& cause : unknown) {
    context.output.note("warning: {}: {}\n", printable(cause.field), printable(cause.message));
  }
  return checked;
}

Result<void> edit(const Context& context, const SubmissionOptions& options,
                  std::vector<Manifest>& manifests) {
  TRY(set_fields(options.set, manifests));
  std::vector<std::pair<std::string, std::string>> variables;
  for (const auto& text : options.env) {
    variables.push_back(TRY(parse_env(text, context.environment)));
  }
  TRY(add_environment(variables, manifests));
  if (!options.mounts.empty() && context.wants_cluster()) {
    return fail(ErrorCode::BadRequest,
                "--mount is for jobs on this machine: the nodes of a cluster have other "
                "directories; let the manifest use a claim");
  }
  std::vector<MountFlag> mounts;
  for (const auto& text : options.mounts) mounts.push_back(TRY(parse_mount(text)));
  return add_mounts(mounts, manifests);
}

}  // namespace

Result<Validation> parse_validation(const std::string& word) {
  if (word == "strict" || word == "true") return Validation::Strict;
  if (word == "warn") return Validation::Warn;
  if (word == "ignore" || word == "false") return Validation::Ignore;
  return fail(ErrorCode::BadRequest,
              fmt::format("--validate {}: write strict, warn or ignore", word));
}

Result<std::vector<Manifest>> manifests_for_run(Context& context,
                                                const std::vector<std::string>& files,
                                                const SubmissionOptions& options) {
  auto manifests = TRY(read_manifests(files, context.registry, context.image_files));
  TRY(edit(context, options, manifests));
  const std::string ns = context.ns.empty() ? "default" : context.ns;
  for (Manifest& manifest : manifests) TRY(check(context, ns, options.validation, manifest));
  return manifests;
}

}  // namespace muster::cli
