#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "plan/value.h"

// Writing into pod templates. What the user wrote stays, whether we know it or not; texts that are
// not known yet are remembered with their place.
namespace muster::dialects {

class PodEditor;

// Variables of one container. They are appended: of two with one name the last one counts, ours.
class EnvEditor {
 public:
  [[nodiscard]] bool has(std::string_view name) const;
  void set(std::string_view name, plan::Part part);
  void set(std::string_view name, plan::Value value);
  // A field of the pod itself, such as status.podIP.
  void set_from_field(std::string_view name, std::string_view field);
  // Every key of a ConfigMap, which the container waits for. Variables of their own count more.
  void set_all_from_config_map(std::string_view name);

 private:
  friend PodEditor;
  EnvEditor(PodEditor& pod, std::size_t container) : pod_(pod), container_(container) {}
  [[nodiscard]] json::Array& entries() const;

  PodEditor& pod_;
  std::size_t container_;
};

// A volume in a container.
struct Mount {
  std::string_view volume;
  std::string_view path;
  bool read_only = false;
};

// Mounts it in a container that need not be in a pod.
void add_mount(json::Value& container, const Mount& mount);

class PodEditor {
 public:
  // A template, whose `spec.containers` is a list.
  explicit PodEditor(json::Value pod);

  [[nodiscard]] const json::Value& pod() const { return pod_; }
  [[nodiscard]] json::Value& spec() { return pod_["spec"]; }
  [[nodiscard]] json::Value& container(std::size_t index);
  [[nodiscard]] json::Object& labels();

  // Both replace what is there.
  void set_label(std::string_view key, const plan::Value& value);
  void set_annotation(std::string_view key, std::string value);

  [[nodiscard]] EnvEditor env(std::size_t container) { return {*this, container}; }
  // Calls back with an EnvEditor& of every container; init containers are not among them.
  template <class F>
  void every_container(F edit) {
    for (std::size_t i = 0; i < pod_["spec"]["containers"].array().size(); ++i) {
      EnvEditor variables = env(i);
      edit(variables);
    }
  }
  // What the CLI recorded on the job of the submitter's environment.
  void pass_environment(const json::Value& job);

  // A member of the pod's spec.
  void set_in_spec(std::string_view member, const plan::Value& value);

  // Unless the container declares one of that name.
  void add_port(std::size_t container, std::string_view name, std::int64_t number);
  // One without a name, unless the container declares that number.
  void add_port(std::size_t container, std::int64_t number);

  // What is appended must not be there under that name; rules of the kind see to it.
  void add_volume(std::string_view name, std::string_view source, json::Value settings);
  void mount(std::size_t container, const Mount& mount);
  // In every container and every init container that is there by now.
  void mount_everywhere(const Mount& mount);
  void add_first_init_container(json::Value container);
  void add_last_init_container(json::Value container);

  // In place of command and arguments.
  void set_command(std::size_t container, const std::vector<std::string>& words);
  // Before the command that is there; its arguments stay behind it.
  void prefix_command(std::size_t container, const std::vector<std::string>& words);

  // What was made: the template, and what is still to be placed in it.
  [[nodiscard]] json::Value take_pod() { return std::move(pod_); }
  [[nodiscard]] std::vector<plan::Placed> take_values() { return std::move(values_); }

 private:
  friend EnvEditor;

  json::Value pod_;
  std::vector<plan::Placed> values_;
};

// The text of a value that holds nothing else.
bool is_plain(const plan::Value& value);
std::string plain_text(const plan::Value& value);

}  // namespace muster::dialects
