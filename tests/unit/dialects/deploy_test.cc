// What deploy/ tells Kubernetes of every kind, as ./dev gen wrote it, and what the code does, are
// the same.
#include <set>

#include <gtest/gtest.h>

#include "api/object.h"
#include "support.h"
#include "yaml/yaml.h"

namespace muster::dialects::test {
namespace {

json::Value crd_of(const plan::Identity& identity) {
  const auto& resource = identity.resource;
  return read_case("../deploy/crds/" + resource.group + "_" + resource.plural + ".yaml");
}

std::vector<const plan::Dialect*> kinds_on_real_clusters() {
  std::vector<const plan::Dialect*> all;
  for (const auto& dialect : registry().all()) {
    if (!dialect->identity().embedded_only) all.push_back(dialect.get());
  }
  return all;
}

TEST(Crd, NamesEveryKindAsItsDialectDoes) {
  for (const plan::Dialect* dialect : kinds_on_real_clusters()) {
    const auto& identity = dialect->identity();
    SCOPED_TRACE(identity.resource.qualified());
    const auto definition = crd_of(identity);
    const auto& names = definition["spec"]["names"];
    EXPECT_EQ(api::name_of(definition), identity.resource.qualified());
    EXPECT_EQ(definition["spec"]["group"].as_string(), identity.resource.group);
    EXPECT_EQ(definition["spec"]["versions"][0]["name"].as_string(), identity.resource.version);
    EXPECT_EQ(names["kind"].as_string(), identity.resource.kind);
    EXPECT_EQ(names["plural"].as_string(), identity.resource.plural);
    EXPECT_EQ(names["singular"].as_string(), identity.singular);
    EXPECT_EQ(names["shortNames"].as_array().size(), identity.short_names.size());
  }
}

TEST(Crd, TheSchemaIsTheDialects) {
  for (const plan::Dialect* dialect : kinds_on_real_clusters()) {
    const auto definition = crd_of(dialect->identity());
    EXPECT_EQ(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"], dialect->schema())
        << dialect->identity().resource.qualified() << ": run ./dev gen";
  }
}

TEST(Crd, ColumnsAreTheDialectsWithAgeLast) {
  for (const plan::Dialect* dialect : kinds_on_real_clusters()) {
    const auto definition = crd_of(dialect->identity());
    const auto& version = definition["spec"]["versions"][0];
    const auto& columns = version["additionalPrinterColumns"].as_array();
    const auto& expected = dialect->identity().columns;
    ASSERT_EQ(columns.size(), expected.size() + 1);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(columns[i]["name"].as_string(), expected[i].name);
      EXPECT_EQ(columns[i]["jsonPath"].as_string(), expected[i].path);
      EXPECT_EQ(columns[i]["type"].as_string(), expected[i].type);
      EXPECT_EQ(columns[i]["priority"].as_int(), expected[i].priority);
    }
    EXPECT_EQ(columns.back()["name"].as_string(), "Age");
  }
}

// "verb group/resource" of every rule in files of RBAC objects.
std::set<std::string> grants(const std::vector<std::string>& files) {
  std::set<std::string> out;
  for (const auto& file : files) {
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
  }
  return out;
}

TEST(Rbac, MS13_GrantsEventsAndNothingThatIsNotUsed) {
  std::set<std::string> expected;
  const auto add = [&](const std::string& resource, const std::vector<std::string>& verbs) {
    for (const auto& verb : verbs) expected.insert(verb + " " + resource);
  };
  for (const plan::Dialect* dialect : kinds_on_real_clusters()) {
    const auto& resource = dialect->identity().resource;
    const std::string jobs = resource.group + "/" + resource.plural;
    add(jobs, {"get", "list", "watch"});
    // Of the others none has a time to live: nobody but users deletes them.
    if (resource.plural == "msjobs") add(jobs, {"delete"});
    add(jobs + "/status", {"update"});
    add(jobs + "/finalizers", {"update"});
    if (!dialect->identity().foreign_finalizer.empty()) add(jobs, {"update"});
  }
  add("/pods", {"get", "list", "watch", "create", "delete"});
  add("/services", {"get", "list", "watch", "create", "delete"});
  add("/configmaps", {"get", "list", "watch", "create", "delete"});
  add("/secrets", {"create"});
  add("scheduler.tensorstack.dev/podgroups", {"get", "list", "watch", "create", "delete"});
  add("/events", {"create"});
  add("coordination.k8s.io/leases", {"list", "get", "create", "update"});
  EXPECT_EQ(grants({"../deploy/role.yaml", "../deploy/rbac.yaml"}), expected);
  EXPECT_EQ(grants({"../deploy/namespaced/role.yaml", "../deploy/namespaced/rbac.yaml"}), expected);
}

}  // namespace
}  // namespace muster::dialects::test
