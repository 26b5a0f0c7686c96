#include "node/pod/container/environment.h"

#include <optional>

#include <fmt/format.h>

#include "api/object.h"
#include "json/read.h"
#include "node/pod/container/expand.h"
#include "node/pod/container/images.h"

namespace muster::node {

namespace {

using Variables = std::map<std::string, std::string>;

Result<void> add_all_keys(Variables& out, const EnvironmentInput& input, const json::Value& from,
                          ReferenceKind kind) {
  const auto& reference =
      kind == ReferenceKind::ConfigMap ? from["configMapRef"] : from["secretRef"];
  if (reference.is_null()) return {};
  const Reference wanted{.kind = kind, .name = reference["name"].as_string()};
  const auto object = input.lookup(wanted);
  if (!object) {
    if (reference["optional"].as_bool()) return {};
    return fail(not_found(wanted));
  }
  const auto& prefix = from["prefix"].as_string();
  for (const auto& [key, unused] : (*object)["data"].as_object()) {
    if (auto value = value_at(*object, kind, key)) out[prefix + key] = std::move(*value);
  }
  return {};
}

// Nothing: the reference is optional and leads nowhere.
Result<std::optional<std::string>> value_of_key(const EnvironmentInput& input,
                                                const json::Value& reference, ReferenceKind kind) {
  const bool optional = reference["optional"].as_bool();
  const Reference wanted{.kind = kind, .name = reference["name"].as_string()};
  const auto object = input.lookup(wanted);
  if (!object) {
    if (optional) return std::nullopt;
    return fail(not_found(wanted));
  }
  const auto& key = reference["key"].as_string();
  auto value = value_at(*object, kind, key);
  if (!value && !optional) {
    return fail(ErrorCode::NotFound,
                fmt::format("couldn't find key {} in {} {}/{}", key,
                            kind == ReferenceKind::ConfigMap ? "ConfigMap" : "Secret",
                            api::namespace_of(input.pod), wanted.name));
  }
  return value;
}

Result<std::optional<std::string>> value_from(const EnvironmentInput& input,
                                              const json::Value& source) {
  if (source["fieldRef"].is_object()) {
    return TRY(field_value(input.pod, source["fieldRef"]["fieldPath"].as_string(), input.place));
  }
  if (source["resourceFieldRef"].is_object()) {
    return TRY(resource_field_value(input.pod, source["resourceFieldRef"],
                                    input.container["name"].as_string(), input.place));
  }
  if (source["configMapKeyRef"].is_object()) {
    return value_of_key(input, source["configMapKeyRef"], ReferenceKind::ConfigMap);
  }
  if (source["secretKeyRef"].is_object()) {
    return value_of_key(input, source["secretKeyRef"], ReferenceKind::Secret);
  }
  return fail(ErrorCode::Invalid, "valueFrom names no source that this node knows");
}

}  // namespace

Result<Variables> pod_environment(const EnvironmentInput& input) {
  Variables own;
  for (const auto& from : input.container["envFrom"].as_array()) {
    TRY(add_all_keys(own, input, from, ReferenceKind::ConfigMap));
    TRY(add_all_keys(own, input, from, ReferenceKind::Secret));
  }
  // References see the pod's own variables first, then those of services.
  Variables known = input.services;
  for (const auto& [name, value] : own) known[name] = value;
  for (const auto& variable : input.container["env"].as_array()) {
    const auto& name = variable["name"].as_string();
    std::optional<std::string> value;
    if (variable["valueFrom"].is_object()) {
      auto found = value_from(input, variable["valueFrom"]);
      if (!found) return fail(found.error());
      value = std::move(*found);
    } else {
      value = expand(variable["value"].as_string(), known);
    }
    if (value) known[name] = std::move(*value);
  }
  return known;
}

Result<Variables> base_environment(const json::Value& pod, const NodeOptions& options) {
  const auto& text = api::annotation_of(pod, kEnvironmentAnnotation);
  if (text.empty()) return options.environment;
  auto parsed = json::read(text);
  if (!parsed || !parsed->is_object()) {
    return fail(ErrorCode::Invalid, fmt::format("annotation {} is not a JSON object of strings",
                                                kEnvironmentAnnotation));
  }
  Variables out;
  for (const auto& [name, value] : parsed->as_object()) out[name] = value.as_string();
  return out;
}

std::string submitter_directory(const json::Value& pod) {
  const auto base = base_environment(pod, {});
  if (!base) return {};
  const auto found = base->find(kDirectoryVariable);
  return found == base->end() ? std::string() : found->second;
}

namespace {

// As the image says, where there is one; without, the pod is as much at home here as its submitter.
std::string usual_directory(const CommandLine& line) {
  const std::string& usual = line.image != nullptr ? line.image->workdir : line.submitter_directory;
  return usual.empty() ? "/" : usual;
}

}  // namespace

Result<CommandLine> command_line(const CommandLineInput& input) {
  const auto& container = input.environment.container;
  CommandLine out;
  out.image = find_image(input.options.images, container["image"].as_string());
  const auto words = TRY(words_to_run(container, out.image));
  const auto own = TRY(pod_environment(input.environment));
  out.words = expand_all(words, own);
  out.environment = TRY(base_environment(input.environment.pod, input.options));
  if (auto from = out.environment.extract(kDirectoryVariable)) {
    out.submitter_directory = std::move(from.mapped());
  }
  if (out.image != nullptr) {
    for (const auto& [name, value] : out.image->env) out.environment[name] = value;
  }
  out.environment["HOSTNAME"] = input.hostname;
  for (const auto& [name, value] : own) out.environment[name] = value;
  out.working_directory = expand(container["workingDir"].as_string(), own);
  if (out.working_directory.empty()) out.working_directory = usual_directory(out);
  return out;
}

}  // namespace muster::node
