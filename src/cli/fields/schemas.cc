#include "cli/fields/schemas.h"

#include "cli/fields/kubernetes_types.h"

namespace muster::cli {
namespace {

constexpr std::string_view kPod = "Pod";
constexpr std::string_view kTemplate = "PodTemplateSpec";

// Schemas of CRDs leave templates open: what is in them is the API server's to know.
bool is_template(std::string_view name, const json::Value& node) {
  return name == "template" && is_open(node);
}

json::Value template_like(const json::Value& node) {
  return json::Object{{"$ref", kTemplate}, {"description", node["description"]}};
}

void fill_in_templates(json::Value& node) {
  for (auto& [key, value] : node.object()) {
    if (key == "items" || key == "additionalProperties") fill_in_templates(value);
    if (key != "properties") continue;
    for (auto& [name, member] : value.object()) {
      if (is_template(name, member)) {
        member = template_like(member);
      } else {
        fill_in_templates(member);
      }
    }
  }
}

void collect_specs(const json::Value& node, json::Value& value, std::vector<json::Value*>& found) {
  if (const auto& type = node["$ref"].as_string(); type == kPod || type == kTemplate) {
    if (std::as_const(value)["spec"].is_object()) found.push_back(&value["spec"]);
    return;
  }
  if (value.is_array()) {
    for (auto& item : value.array()) collect_specs(node["items"], item, found);
  } else if (value.is_object()) {
    for (auto& [name, member] : value.object()) {
      const auto* known = node["properties"].as_object().find(name);
      collect_specs(known != nullptr ? *known : node["additionalProperties"], member, found);
    }
  }
}

}  // namespace

json::Value schema_for(const api::Resource& resource, const plan::Dialect* dialect) {
  if (dialect != nullptr) {
    auto schema = dialect->schema();
    fill_in_templates(schema);
    if (std::as_const(schema)["properties"].is_object()) {
      schema["properties"]["metadata"] = json::Object{{"$ref", "ObjectMeta"}};
    }
    return schema;
  }
  if (!kubernetes_types().contains(resource.kind)) return {};
  return json::Object{{"$ref", resource.kind}};
}

const json::Value& resolve(const json::Value& node) {
  const json::Value* type = kubernetes_types().find(node["$ref"].as_string());
  if (type == nullptr) type = &node;
  return *type;
}

bool is_open(const json::Value& node) {
  const bool nothing_is_said = node["type"].as_string() == "object" &&
                               node["properties"].is_null() &&
                               node["additionalProperties"].is_null();
  return nothing_is_said || node["x-kubernetes-preserve-unknown-fields"].as_bool();
}

std::vector<json::Value*> pod_specs(const json::Value& schema, json::Value& object) {
  std::vector<json::Value*> found;
  collect_specs(schema, object, found);
  return found;
}

}  // namespace muster::cli
