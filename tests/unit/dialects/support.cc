#include "support.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "api/object.h"
#include "dialects/registry.h"
#include "yaml/yaml.h"

namespace muster::dialects::test {

std::string read_text(const std::string& path) {
  std::ifstream file(std::string(MUSTER_TEST_DATA) + "/" + path);
  EXPECT_TRUE(file.is_open()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

json::Value parse(std::string_view yaml) {
  const auto documents = yaml::read(yaml);
  if (!documents || documents->size() != 1) {
    ADD_FAILURE() << (documents ? "not one document" : documents.error().message);
    return {};
  }
  return documents->front().value;
}

json::Value read_case(const std::string& path) {
  return parse(read_text(path));
}

JobBuilder::JobBuilder(std::string name)
    : job_(json::Object{{"apiVersion", "mindspore.gitee.com/v1"},
                        {"kind", "MSJob"},
                        {"metadata", json::Object{{"name", std::move(name)},
                                                  {"namespace", "team"},
                                                  {"uid", "7d7b0f3e-0001"},
                                                  {"generation", 1}}},
                        {"spec", json::Object{{"msReplicaSpecs", json::Object{}}}}}) {}

JobBuilder& JobBuilder::role(const std::string& key, int replicas) {
  job_["spec"]["msReplicaSpecs"][key] =
      parse("template: {spec: {containers: [{name: mindspore, image: example.org/ms:1}]}}");
  job_["spec"]["msReplicaSpecs"][key]["replicas"] = replicas;
  return *this;
}

JobBuilder& JobBuilder::set(std::string_view path, json::Value value) {
  job_.make_path(path) = std::move(value);
  return *this;
}

JobBuilder& JobBuilder::container(const std::string& key, std::string_view member,
                                  json::Value value) {
  job_["spec"]["msReplicaSpecs"][key]["template"]["spec"]["containers"].array()[0][member] =
      std::move(value);
  return *this;
}

plan::Plan JobBuilder::plan() const {
  auto plan = dialect().compile(job_);
  if (!plan) {
    ADD_FAILURE() << plan.error().message;
    return {};
  }
  return *plan;
}

const plan::Registry& registry() {
  static const auto kRegistry = make_registry();
  return kRegistry;
}

const plan::Dialect& dialect() {
  return *registry().find("mindspore.gitee.com/v1", "MSJob");
}

const plan::Dialect& dialect_of(const json::Value& job) {
  const auto* found = registry().find(api::api_version_of(job), api::kind_of(job));
  if (found != nullptr) return *found;
  ADD_FAILURE() << "no dialect for " << api::api_version_of(job) << " " << api::kind_of(job);
  return dialect();
}

std::vector<std::string> env_names(const plan::Role& role) {
  std::vector<std::string> names;
  const auto* container = api::find_named(role.pod["spec"]["containers"], "mindspore");
  for (const auto& entry : (*container)["env"].as_array()) {
    names.push_back(entry["name"].as_string());
  }
  return names;
}

plan::Value placed_at(const plan::Role& role, const plan::JsonPath& path) {
  for (const auto& placed : role.values) {
    if (placed.path == path) return placed.value;
  }
  return {};
}

json::Value env_of(const plan::Role& role, std::string_view name) {
  json::Value last;
  const auto* container = api::find_named(role.pod["spec"]["containers"], "mindspore");
  for (const auto& entry : (*container)["env"].as_array()) {
    if (entry["name"].as_string() == name) last = entry;
  }
  return last;
}

}  // namespace muster::dialects::test
