// What deploy/ tells Kubernetes, and what the code does, are the same.
#include <set>

#include <gtest/gtest.h>

#include "api/object.h"
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
