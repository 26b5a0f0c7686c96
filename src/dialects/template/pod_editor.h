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

 private:
  friend PodEditor;
  EnvEditor(PodEditor& pod, std::size_t container) : pod_(pod), container_(container) {}
  [[nodiscard]] json::Array& entries() const;

  PodEditor& pod_;
  std::size_t container_;
};

class PodEditor {
 public:
  // A template, whose `spec.containers` is a list.
  explicit PodEditor(json::Value pod);

  [[nodiscard]] const json::Value& pod() const { return pod_; }
  [[nodiscard]] json::Value& spec() { return pod_["spec"]; }
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
  // Unless the container declares one of that name.
  void add_port(std::size_t container, std::string_view name, std::int64_t number);

  // What was made: the template, and what is still to be placed in it.
  [[nodiscard]] json::Value take_pod() { return std::move(pod_); }
  [[nodiscard]] std::vector<plan::Placed> take_values() { return std::move(values_); }

 private:
  friend EnvEditor;
  [[nodiscard]] json::Value& container(std::size_t index);

  json::Value pod_;
  std::vector<plan::Placed> values_;
};

// The text of a value that holds nothing else.
bool is_plain(const plan::Value& value);
std::string plain_text(const plan::Value& value);

}  // namespace muster::dialects
