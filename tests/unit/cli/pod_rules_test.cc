#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/fields/kubernetes_types.h"
#include "cli/fields/schemas.h"
#include "node/pod/admission/admission.h"

namespace muster::cli {
namespace {

// Every leaf of a type by its path, like containers[].env[].name. Where anything may stand ("any"),
// the path ends with .** because only a row for all of it will do. kube-fields.suite holds the
// types against what the API server publishes.
class Leaves {
 public:
  explicit Leaves(const std::string& type) { walk(kubernetes_types().find(type)->as_object(), ""); }
  std::set<std::string> all;

 private:
  void walk(const json::Object& schema, const std::string& path) {
    for (const auto& [name, member] : schema.find("properties")->as_object()) {
      visit(member, path.empty() ? std::string(name) : fmt::format("{}.{}", path, name));
    }
  }

  void visit(const json::Value& given, const std::string& path) {
    const json::Value& schema = resolve(given);
    if (schema["properties"].is_object()) return walk(schema.as_object(), path);
    if (schema["items"].is_object()) {
      const json::Value& items = resolve(schema["items"]);
      if (items["properties"].is_object()) return walk(items.as_object(), path + "[]");
      if (is_open(items)) all.insert(path + ".**");
      if (!is_open(items)) all.insert(path);
      return;
    }
    all.insert(is_open(schema) ? path + ".**" : path);
  }
};

// Whether the field, or something that it lies below, has a row.
bool has_row(std::string path) {
  const bool open = path.ends_with(".**");
  if (open) path.resize(path.size() - 3);
  if (node::admission::rule_of(path, open) != nullptr) return true;
  for (auto end = path.rfind('.'); end != std::string::npos; end = path.rfind('.')) {
    path.resize(end);
    auto above = path;
    if (above.ends_with("[]")) above.resize(above.size() - 2);
    if (node::admission::rule_of(above, true) != nullptr) return true;
  }
  return false;
}

TEST(PodRules, EveryFieldOfAPodHasARow) {
  const Leaves leaves("PodSpec");
  for (const auto& path : leaves.all) EXPECT_TRUE(has_row(path)) << path << " is in no row";
  EXPECT_GT(leaves.all.size(), 400U);
  EXPECT_FALSE(has_row("containers[].securityContext.unheardOf"));
  EXPECT_FALSE(has_row("unheardOf"));
}

TEST(PodRules, EveryRowIsOfAFieldThatExists) {
  const Leaves leaves("PodSpec");
  for (const auto& group : node::admission::all_rules()) {
    for (const auto& rule : group.rules) {
      for (auto path : node::admission::expanded(rule.path)) {
        const bool below = path.ends_with(".**");
        if (below) path.resize(path.size() - 3);
        const bool known = std::ranges::any_of(leaves.all, [&](const std::string& leaf) {
          if (leaf == path || leaf == path + ".**") return true;
          return below && (leaf.starts_with(path + ".") || leaf.starts_with(path + "[]."));
        });
        EXPECT_TRUE(known) << path;
      }
    }
  }
}

}  // namespace
}  // namespace muster::cli
