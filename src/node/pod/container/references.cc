#include "node/pod/container/references.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::node {

namespace {

void add(std::set<Reference>& out, ReferenceKind kind, const json::Value& name) {
  if (!name.as_string().empty()) out.insert({.kind = kind, .name = name.as_string()});
}

void add_container(std::set<Reference>& out, const json::Value& container) {
  for (const auto& from : container["envFrom"].as_array()) {
    add(out, ReferenceKind::ConfigMap, from["configMapRef"]["name"]);
    add(out, ReferenceKind::Secret, from["secretRef"]["name"]);
  }
  for (const auto& variable : container["env"].as_array()) {
    add(out, ReferenceKind::ConfigMap, variable["valueFrom"]["configMapKeyRef"]["name"]);
    add(out, ReferenceKind::Secret, variable["valueFrom"]["secretKeyRef"]["name"]);
  }
}

}  // namespace

std::set<Reference> references_of(const json::Value& pod) {
  std::set<Reference> out;
  const auto& spec = pod["spec"];
  for (const auto& container : spec["initContainers"].as_array()) add_container(out, container);
  for (const auto& container : spec["containers"].as_array()) add_container(out, container);
  for (const auto& volume : spec["volumes"].as_array()) {
    add(out, ReferenceKind::ConfigMap, volume["configMap"]["name"]);
    add(out, ReferenceKind::Secret, volume["secret"]["secretName"]);
    for (const auto& source : volume["projected"]["sources"].as_array()) {
      add(out, ReferenceKind::ConfigMap, source["configMap"]["name"]);
      add(out, ReferenceKind::Secret, source["secret"]["name"]);
    }
  }
  return out;
}

std::optional<std::string> value_at(const json::Value& object, ReferenceKind kind,
                                    std::string_view key) {
  const auto* text = object["data"].as_object().find(key);
  if (kind == ReferenceKind::Secret) {
    return text == nullptr ? std::nullopt : base64_decode(text->as_string());
  }
  if (text != nullptr) return text->as_string();
  const auto* binary = object["binaryData"].as_object().find(key);
  return binary == nullptr ? std::nullopt : base64_decode(binary->as_string());
}

Lookup lookup_in(const ReferencedObjects& objects) {
  return [&objects](const Reference& reference) {
    const auto found = objects.find(reference);
    return found == objects.end() ? nullptr : found->second;
  };
}

Error not_found(const Reference& reference) {
  return {.code = ErrorCode::NotFound,
          .message = fmt::format(
              "{} \"{}\" not found",
              reference.kind == ReferenceKind::ConfigMap ? "configmap" : "secret", reference.name)};
}

}  // namespace muster::node
