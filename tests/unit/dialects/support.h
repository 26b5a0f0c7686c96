#pragma once

#include <string>
#include <string_view>

#include "json/value.h"
#include "plan/dialect.h"

// Manifests for the tests of this folder.
namespace muster::dialects::test {

// The file's text, below tests/. A file that is not there fails the test.
std::string read_text(const std::string& path);
// The only YAML document of a text.
json::Value parse(std::string_view yaml);
json::Value read_case(const std::string& path);

// An MSJob as the API server would hand it out: job("bert").scheduler().workers(4).
class JobBuilder {
 public:
  explicit JobBuilder(std::string name);

  JobBuilder& role(const std::string& key, int replicas = 1);
  JobBuilder& scheduler() { return role("Scheduler"); }
  JobBuilder& servers(int count) { return role("PS", count); }
  JobBuilder& workers(int count) { return role("Worker", count); }
  // Sets a value at a dotted path of the whole object: set("spec.successPolicy", "AllWorkers").
  JobBuilder& set(std::string_view path, json::Value value);
  // The same within the `mindspore` container of a role that is there.
  JobBuilder& container(const std::string& key, std::string_view member, json::Value value);

  [[nodiscard]] const json::Value& json() const { return job_; }
  [[nodiscard]] plan::Plan plan() const;

 private:
  json::Value job_;
};

inline JobBuilder job(std::string name) {
  return JobBuilder(std::move(name));
}

const plan::Registry& registry();
const plan::Dialect& dialect();  // MSJob
// The dialect of a job's apiVersion and kind; none fails the test.
const plan::Dialect& dialect_of(const json::Value& job);

// Names of the `mindspore` container's variables, in order.
std::vector<std::string> env_names(const plan::Role& role);
// What will be placed there; empty when nothing is.
plan::Value placed_at(const plan::Role& role, const plan::JsonPath& path);
// A variable's entry, the last one of that name, which is the one that counts.
json::Value env_of(const plan::Role& role, std::string_view name);

}  // namespace muster::dialects::test
