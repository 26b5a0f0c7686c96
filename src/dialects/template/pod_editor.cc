#include "dialects/template/pod_editor.h"

#include <algorithm>
#include <utility>

#include "api/object.h"
#include "base/check.h"
#include "plan/plan.h"

namespace muster::dialects {
namespace {

// Metadata of a template is labels, annotations and finalizers; what belongs to one stored object
// would make the server refuse or mislead it.
void clean_metadata(json::Value& metadata) {
  for (const std::string_view member :
       {"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "selfLink",
        "creationTimestamp", "deletionTimestamp", "ownerReferences", "managedFields"}) {
    metadata.object().erase(member);
  }
}

}  // namespace

bool is_plain(const plan::Value& value) {
  return std::ranges::all_of(
      value, [](const plan::Part& part) { return std::holds_alternative<std::string>(part); });
}

std::string plain_text(const plan::Value& value) {
  std::string text;
  for (const plan::Part& part : value) text += std::get<std::string>(part);
  return text;
}

bool EnvEditor::has(std::string_view name) const {
  return std::ranges::any_of(
      entries(), [&](const json::Value& entry) { return entry["name"].as_string() == name; });
}

void EnvEditor::set(std::string_view name, plan::Part part) {
  set(name, plan::Value{std::move(part)});
}

void EnvEditor::set(std::string_view name, plan::Value value) {
  const bool known = is_plain(value);
  const std::size_t index = entries().size();
  entries().emplace_back(
      json::Object{{"name", name}, {"value", known ? plain_text(value) : std::string()}});
  if (known) return;
  pod_.values_.push_back({.path = {"spec", "containers", container_, "env", index, "value"},
                          .value = std::move(value)});
}

void EnvEditor::set_from_field(std::string_view name, std::string_view field) {
  entries().emplace_back(json::Object{
      {"name", name},
      {"valueFrom",
       json::Object{{"fieldRef", json::Object{{"apiVersion", "v1"}, {"fieldPath", field}}}}}});
}

void EnvEditor::set_all_from_config_map(std::string_view name) {
  pod_.container(container_)["envFrom"].array().push_back(
      json::Object{{"configMapRef", json::Object{{"name", name}}}});
}

json::Array& EnvEditor::entries() const {
  return pod_.container(container_)["env"].array();
}

PodEditor::PodEditor(json::Value pod) : pod_(std::move(pod)) {
  clean_metadata(pod_["metadata"]);
}

json::Object& PodEditor::labels() {
  return pod_["metadata"]["labels"].object();
}

void PodEditor::set_label(std::string_view key, const plan::Value& value) {
  if (is_plain(value)) {
    labels().set(key, plain_text(value));
    return;
  }
  labels().erase(key);
  values_.push_back({.path = {"metadata", "labels", std::string(key)}, .value = value});
}

void PodEditor::set_annotation(std::string_view key, std::string value) {
  pod_["metadata"]["annotations"].object().set(key, std::move(value));
}

void PodEditor::set_in_spec(std::string_view member, const plan::Value& value) {
  if (is_plain(value)) {
    spec()[member] = plain_text(value);
    return;
  }
  spec().object().erase(member);
  values_.push_back({.path = {"spec", std::string(member)}, .value = value});
}

void PodEditor::pass_environment(const json::Value& job) {
  const auto& environment = api::annotation_of(job, plan::kEnvironmentAnnotation);
  if (!environment.empty()) set_annotation(plan::kEnvironmentAnnotation, environment);
}

void PodEditor::add_port(std::size_t index, std::string_view name, std::int64_t number) {
  json::Value& ports = container(index)["ports"];
  if (api::find_named(ports, name) != nullptr) return;
  ports.array().push_back(json::Object{{"name", name}, {"containerPort", number}});
}

void PodEditor::add_port(std::size_t index, std::int64_t number) {
  json::Array& ports = container(index)["ports"].array();
  const bool declared = std::ranges::any_of(
      ports, [&](const json::Value& port) { return port["containerPort"].as_int() == number; });
  if (!declared) ports.push_back(json::Object{{"containerPort", number}});
}

void add_mount(json::Value& container, const Mount& mount) {
  json::Object made{{"name", mount.volume}, {"mountPath", mount.path}};
  if (mount.read_only) made.set("readOnly", true);
  container["volumeMounts"].array().push_back(std::move(made));
}

void PodEditor::add_volume(std::string_view name, std::string_view source, json::Value settings) {
  spec()["volumes"].array().push_back(
      json::Object{{"name", name}, {std::string(source), std::move(settings)}});
}

void PodEditor::mount(std::size_t index, const Mount& mount) {
  add_mount(container(index), mount);
}

void PodEditor::mount_everywhere(const Mount& mount) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    if (!std::as_const(pod_)["spec"][list].is_array()) continue;
    for (json::Value& each : spec()[list].array()) add_mount(each, mount);
  }
}

void PodEditor::add_first_init_container(json::Value made) {
  json::Array& list = spec()["initContainers"].array();
  list.insert(list.begin(), std::move(made));
}

void PodEditor::add_last_init_container(json::Value made) {
  spec()["initContainers"].array().push_back(std::move(made));
}

void PodEditor::set_command(std::size_t index, const std::vector<std::string>& words) {
  json::Value& edited = container(index);
  edited["command"] = json::Array(words.begin(), words.end());
  edited.object().erase("args");
}

void PodEditor::prefix_command(std::size_t index, const std::vector<std::string>& words) {
  json::Array& command = container(index)["command"].array();
  command.insert(command.begin(), words.begin(), words.end());
}

json::Value& PodEditor::container(std::size_t index) {
  json::Array& containers = pod_["spec"]["containers"].array();
  CHECK(index < containers.size());
  return containers[index];
}

}  // namespace muster::dialects
