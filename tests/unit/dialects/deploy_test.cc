// What deploy/ tells Kubernetes, and what the code does, are the same.
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "base/strings.h"
#include "dialects/mindspore_fields.h"
#include "support.h"
#include "yaml/yaml.h"

namespace muster::dialects::test {
namespace {

json::Value crd() {
  return read_case("../deploy/crds/mindspore.gitee.com_msjobs.yaml");
}

const json::Value& version_of(const json::Value& crd) {
  return crd["spec"]["versions"][0];
}

// One line for what the table and the schema both say of a field.
std::string field_line(std::string_view type, const json::Value& minimum,
                       const json::Value& maximum, std::string_view allowed, bool required) {
  const auto number = [](const json::Value& value) {
    return value.is_int() ? fmt::to_string(value.as_int()) : std::string("-");
  };
  return fmt::format("{} {}..{} [{}]{}", type, number(minimum), number(maximum), allowed,
                     required ? " required" : "");
}

std::string_view type_text(Type type) {
  switch (type) {
    case Type::Object:
      return "object";
    case Type::Open:
      return "open";
    case Type::Map:
      return "map";
    case Type::List:
      return "array";
    case Type::String:
      return "string";
    case Type::Int32:
      return "int32";
    case Type::Int64:
      return "int64";
    case Type::Bool:
      return "boolean";
    case Type::Quantity:
      return "quantity";
  }
  return "";
}

std::map<std::string, std::string> table_lines() {
  const auto value = [](const std::optional<std::int64_t>& number) {
    return number ? json::Value(*number) : json::Value();
  };
  std::map<std::string, std::string> lines;
  for (const auto& field : mindspore::job_fields()) {
    if (!field.path.starts_with("spec")) continue;
    lines[std::string(field.path)] =
        field_line(type_text(field.type), value(field.minimum), value(field.maximum), field.allowed,
                   field.required);
  }
  return lines;
}

std::string schema_type(const json::Value& schema) {
  if (schema["x-kubernetes-int-or-string"].as_bool()) return "quantity";
  if (schema["x-kubernetes-preserve-unknown-fields"].as_bool()) return "open";
  if (schema["additionalProperties"].is_object()) return "map";
  if (schema["type"].as_string() == "integer") return schema["format"].as_string();
  return schema["type"].as_string();
}

void add_schema_lines(const json::Value& schema, const std::string& path, bool required,
                      std::map<std::string, std::string>& lines) {
  std::vector<std::string> allowed;
  for (const auto& value : schema["enum"].as_array()) allowed.push_back(value.as_string());
  lines[path] = field_line(schema_type(schema), schema["minimum"], schema["maximum"],
                           join(allowed, "|"), required);
  if (schema_type(schema) == "open") return;
  std::set<std::string> needed;
  for (const auto& name : schema["required"].as_array()) needed.insert(name.as_string());
  for (const auto& [name, member] : schema["properties"].as_object()) {
    add_schema_lines(member, path + "." + name, needed.contains(name), lines);
  }
  if (schema["additionalProperties"].is_object()) {
    add_schema_lines(schema["additionalProperties"], path + ".*", false, lines);
  }
}

TEST(Crd, SchemaAndFieldTableSayTheSame) {
  const auto definition = crd();
  const auto& schema = version_of(definition)["schema"]["openAPIV3Schema"];
  std::map<std::string, std::string> lines;
  add_schema_lines(schema["properties"]["spec"], "spec",
                   schema["required"][0].as_string() == "spec", lines);
  EXPECT_EQ(lines, table_lines());
}

TEST(Crd, NamesTheKindAsTheDialectDoes) {
  const auto definition = crd();
  const auto& names = definition["spec"]["names"];
  const auto& identity = dialect().identity();
  EXPECT_EQ(api::name_of(definition), identity.resource.qualified());
  EXPECT_EQ(definition["spec"]["group"].as_string(), identity.resource.group);
  EXPECT_EQ(version_of(definition)["name"].as_string(), identity.resource.version);
  EXPECT_EQ(names["kind"].as_string(), identity.resource.kind);
  EXPECT_EQ(names["plural"].as_string(), identity.resource.plural);
  EXPECT_EQ(names["singular"].as_string(), identity.singular);
  EXPECT_EQ(names["shortNames"][0].as_string(), identity.short_names.at(0));
  EXPECT_EQ(names["categories"][0].as_string(), identity.categories.at(0));
  EXPECT_EQ(names["categories"][1].as_string(), identity.categories.at(1));
}

TEST(Crd, ColumnsAreTheDialectsWithAgeLast) {
  const auto definition = crd();
  const auto& columns = version_of(definition)["additionalPrinterColumns"].as_array();
  const auto& expected = dialect().identity().columns;
  ASSERT_EQ(columns.size(), expected.size() + 1);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(columns[i]["name"].as_string(), expected[i].name);
    EXPECT_EQ(columns[i]["jsonPath"].as_string(), expected[i].path);
    EXPECT_EQ(columns[i]["type"].as_string(), expected[i].type);
    EXPECT_EQ(columns[i]["priority"].as_int(), expected[i].priority);
  }
  EXPECT_EQ(columns.back()["name"].as_string(), "Age");
}

TEST(Crd, MS14_TemplatesKeepWhatWeDoNotKnow) {
  const auto definition = crd();
  const auto& properties = version_of(definition)["schema"]["openAPIV3Schema"]["properties"];
  const auto& pod_template = properties["spec"]["properties"]["msReplicaSpecs"]
                                       ["additionalProperties"]["properties"]["template"];
  EXPECT_TRUE(pod_template["x-kubernetes-preserve-unknown-fields"].as_bool());
  EXPECT_TRUE(
      pod_template["properties"]["metadata"]["x-kubernetes-preserve-unknown-fields"].as_bool());
  EXPECT_TRUE(properties["status"]["properties"]["muster"]["x-kubernetes-preserve-unknown-fields"]
                  .as_bool());
}

// "verb group/resource" of every rule in a file of RBAC objects.
std::set<std::string> grants(const std::string& file) {
  std::set<std::string> out;
  const auto documents = yaml::read(read_text(file));
  if (!documents) {
    ADD_FAILURE() << documents.error().message;
    return out;
  }
  for (const auto& document : *documents) {
    for (const auto& rule : document.value["rules"].as_array()) {
      for (const auto& group : rule["apiGroups"].as_array()) {
        for (const auto& resource : rule["resources"].as_array()) {
          for (const auto& verb : rule["verbs"].as_array()) {
            out.insert(verb.as_string() + " " + group.as_string() + "/" + resource.as_string());
          }
        }
      }
    }
  }
  return out;
}

TEST(Rbac, MS13_GrantsEventsAndNothingThatIsNotUsed) {
  const std::string group = dialect().identity().resource.group;
  std::set<std::string> expected;
  const auto add = [&](const std::string& resource, const std::vector<std::string>& verbs) {
    for (const auto& verb : verbs) expected.insert(verb + " " + resource);
  };
  add(group + "/msjobs", {"get", "list", "watch", "delete"});
  add(group + "/msjobs/status", {"update"});
  add(group + "/msjobs/finalizers", {"update"});
  add("/pods", {"get", "list", "watch", "create", "delete"});
  add("/services", {"get", "list", "watch", "create", "delete"});
  add("/events", {"create", "patch"});
  add("coordination.k8s.io/leases", {"list", "get", "create", "update"});
  EXPECT_EQ(grants("../deploy/rbac.yaml"), expected);
  EXPECT_EQ(grants("../deploy/namespaced/rbac.yaml"), expected);
}

}  // namespace
}  // namespace muster::dialects::test
