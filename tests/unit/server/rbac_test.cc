#include "server/access/rbac.h"

#include <vector>

#include "api/object.h"
#include "server/access/gatekeeper.h"
#include "support.h"

namespace muster::server {
namespace {

// The objects that a table of grants describes.
class Grants {
 public:
  void role(const char* ns, const char* name, const char* rules) {
    auto object = std::make_shared<json::Value>();
    (*object)["rules"] = parse(rules);
    (*ns == '\0' ? cluster_roles_ : roles_)[{.ns = ns, .name = name}] = std::move(object);
  }
  void bind(const char* ns, const char* name, const char* kind, const char* to,
            const char* subjects) {
    auto object = std::make_shared<json::Value>();
    (*object)["metadata"]["namespace"] = ns;
    (*object)["roleRef"] =
        json::Object{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", to}};
    (*object)["subjects"] = parse(subjects);
    (*ns == '\0' ? cluster_bindings_ : bindings_)[{.ns = ns, .name = name}] = std::move(object);
  }
  bool allow(const User& user, const Action& action) const {
    return is_allowed({.roles = roles_,
                       .cluster_roles = cluster_roles_,
                       .role_bindings = bindings_,
                       .cluster_role_bindings = cluster_bindings_},
                      user, action);
  }

 private:
  RoleObjects::Objects roles_;
  RoleObjects::Objects cluster_roles_;
  RoleObjects::Objects bindings_;
  RoleObjects::Objects cluster_bindings_;
};

// METHOD and URL, as the server reads them.
Action asked(const std::string& request) {
  const auto space = request.find(' ');
  const auto path = RequestPath::parse(request.substr(space + 1));
  EXPECT_TRUE(path) << request;
  return action_of(request.substr(0, space), *path);
}

const User kPod = service_account_user("default", "trainer");
constexpr const char* kTrainer =
    R"([{"kind":"ServiceAccount","name":"trainer","namespace":"default"}])";

struct RuleRow {
  const char* what;
  const char* rule;
  const char* request;
  bool allowed;
};

class RuleTable : public testing::TestWithParam<RuleRow> {};

TEST_P(RuleTable, DecidesTheRequest) {
  const RuleRow& row = GetParam();
  Grants grants;
  grants.role("default", "r", (std::string("[") + row.rule + "]").c_str());
  grants.bind("default", "b", "Role", "r", kTrainer);
  EXPECT_EQ(grants.allow(kPod, asked(row.request)), row.allowed) << row.what;
}

constexpr const char* kReadPods =
    R"({"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]})";
constexpr const char* kOnePod =
    R"({"apiGroups":[""],"resources":["pods"],"resourceNames":["a"],"verbs":["*"]})";
constexpr const char* kLogs = R"({"apiGroups":[""],"resources":["pods/log"],"verbs":["get"]})";
constexpr const char* kAnySub = R"({"apiGroups":["*"],"resources":["*/status"],"verbs":["patch"]})";
constexpr const char* kAll = R"({"apiGroups":["*"],"resources":["*"],"verbs":["*"]})";
constexpr const char* kLeases =
    R"({"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["create","delete","deletecollection"]})";

INSTANTIATE_TEST_SUITE_P(
    Rbac, RuleTable,
    testing::Values(
        RuleRow{"a verb of the list", kReadPods, "GET /api/v1/namespaces/default/pods", true},
        RuleRow{"another verb of it", kReadPods, "GET /api/v1/namespaces/default/pods/a", true},
        RuleRow{"watch is a verb of its own", kReadPods,
                "GET /api/v1/namespaces/default/pods?watch=true", false},
        RuleRow{"create is not get", kReadPods, "POST /api/v1/namespaces/default/pods", false},
        RuleRow{"delete is not get", kReadPods, "DELETE /api/v1/namespaces/default/pods/a", false},
        RuleRow{"another resource", kReadPods, "GET /api/v1/namespaces/default/secrets", false},
        RuleRow{"another namespace", kReadPods, "GET /api/v1/namespaces/other/pods", false},
        RuleRow{"all namespaces", kReadPods, "GET /api/v1/pods", false},
        RuleRow{"the same name in another group", kReadPods,
                "GET /apis/metrics.k8s.io/v1/namespaces/default/pods", false},
        RuleRow{"a subresource is not its resource", kReadPods,
                "GET /api/v1/namespaces/default/pods/a/log", false},
        RuleRow{"a kind that does not exist", kReadPods, "GET /api/v1/namespaces/default/gadgets",
                false},
        RuleRow{"the named one", kOnePod, "GET /api/v1/namespaces/default/pods/a", true},
        RuleRow{"the named one, deleted", kOnePod, "DELETE /api/v1/namespaces/default/pods/a",
                true},
        RuleRow{"not the named one", kOnePod, "GET /api/v1/namespaces/default/pods/b", false},
        RuleRow{"a list names none", kOnePod, "GET /api/v1/namespaces/default/pods", false},
        RuleRow{"a list of that name alone", kOnePod,
                "GET /api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Da", true},
        RuleRow{
            "a list of that name or others", kOnePod,
            "GET /api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Da,status.phase%3DX",
            false},
        RuleRow{"a watch of that name", kOnePod,
                "GET /api/v1/namespaces/default/pods?watch=1&fieldSelector=metadata.name=a", true},
        RuleRow{"a creation has no name yet", kOnePod, "POST /api/v1/namespaces/default/pods",
                false},
        RuleRow{"the subresource", kLogs, "GET /api/v1/namespaces/default/pods/a/log", true},
        RuleRow{"its resource", kLogs, "GET /api/v1/namespaces/default/pods/a", false},
        RuleRow{"that subresource of anything", kAnySub,
                "PATCH /apis/x.dev/v1/namespaces/default/things/a/status", true},
        RuleRow{"another subresource", kAnySub,
                "PATCH /apis/x.dev/v1/namespaces/default/things/a/scale", false},
        RuleRow{"everything", kAll, "PUT /api/v1/namespaces/default/pods/a/status", true},
        RuleRow{"everything, but only here", kAll, "GET /api/v1/namespaces/other/pods/a", false},
        RuleRow{"everything of a namespace is not a node", kAll, "GET /api/v1/nodes", false},
        RuleRow{"a namespace lies in itself", kAll, "GET /api/v1/namespaces/default", true},
        RuleRow{"but not another one", kAll, "GET /api/v1/namespaces/other", false},
        RuleRow{"a group by its name", kLeases,
                "POST /apis/coordination.k8s.io/v1/namespaces/default/leases", true},
        RuleRow{"deletion of one", kLeases,
                "DELETE /apis/coordination.k8s.io/v1/namespaces/default/leases/l", true},
        RuleRow{"deletion of all", kLeases,
                "DELETE /apis/coordination.k8s.io/v1/namespaces/default/leases", true},
        RuleRow{"no verbs", R"({"apiGroups":[""],"resources":["pods"]})",
                "GET /api/v1/namespaces/default/pods", false},
        RuleRow{"no groups", R"({"resources":["pods"],"verbs":["list"]})",
                "GET /api/v1/namespaces/default/pods", false},
        RuleRow{"what is malformed grants nothing",
                R"({"apiGroups":"*","resources":{},"verbs":[1]})",
                "GET /api/v1/namespaces/default/pods", false},
        RuleRow{"a Role grants no paths", R"({"nonResourceURLs":["*"],"verbs":["get"]})",
                "GET /metrics", false}));

TEST(Rbac, NothingIsGrantedByDefaultButDiscovery) {
  const Grants none;
  for (const char* path : {"/version", "/healthz", "/livez", "/readyz", "/api", "/api/v1", "/apis",
                           "/apis/batch/v1", "/openapi/v3"}) {
    EXPECT_TRUE(none.allow(kPod, asked(std::string("GET ") + path))) << path;
    EXPECT_FALSE(none.allow(kPod, asked(std::string("POST ") + path))) << path;
    EXPECT_FALSE(none.allow({.name = "nobody"}, asked(std::string("GET ") + path))) << path;
  }
  for (const char* request : {"GET /api/v1/pods", "GET /api/v1/namespaces/default/pods/x",
                              "GET /metrics", "GET /", "GET /debug", "GET /apisx",
                              "POST /api/v1/namespaces/default/serviceaccounts/default/token"}) {
    EXPECT_FALSE(none.allow(kPod, asked(request))) << request;
  }
  EXPECT_TRUE(none.allow({.name = "owner", .admin = true}, asked("DELETE /api/v1/nodes/x")));
}

TEST(Rbac, BindingsReachWhomTheyName) {
  const Action list = asked("GET /api/v1/namespaces/default/pods");
  const auto bound_to = [&](const char* subjects, const User& user = kPod) {
    Grants grants;
    grants.role("default", "r", R"([{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}])");
    grants.bind("default", "b", "Role", "r", subjects);
    return grants.allow(user, list);
  };
  EXPECT_TRUE(bound_to(kTrainer));
  EXPECT_FALSE(bound_to(kTrainer, service_account_user("default", "default")));
  EXPECT_FALSE(bound_to(kTrainer, service_account_user("other", "trainer")));
  EXPECT_TRUE(bound_to(R"([{"kind":"ServiceAccount","name":"trainer"}])"));  // of the binding's own
  EXPECT_TRUE(bound_to(R"([{"kind":"User","name":"system:serviceaccount:default:trainer"}])"));
  EXPECT_TRUE(bound_to(R"([{"kind":"Group","name":"system:serviceaccounts:default"}])"));
  EXPECT_TRUE(bound_to(R"([{"kind":"Group","name":"system:authenticated"}])"));
  EXPECT_FALSE(bound_to(R"([{"kind":"Group","name":"system:serviceaccounts:other"}])"));
  EXPECT_FALSE(bound_to(R"([{"kind":"User","name":"trainer"}])"));
  EXPECT_FALSE(bound_to(R"([{"kind":"User","name":"*"}])"));
  EXPECT_FALSE(bound_to(R"([{"kind":"Group","apiGroup":"x","name":"system:authenticated"}])"));
  EXPECT_FALSE(bound_to("[]"));
}

TEST(Rbac, ClusterRolesReachAsFarAsTheirBinding) {
  const char* rules = R"([{"apiGroups":[""],"resources":["pods","nodes"],"verbs":["list"]},
                          {"nonResourceURLs":["/metrics","/logs/*"],"verbs":["get"]}])";
  Grants here;
  here.role("", "reader", rules);
  here.bind("default", "b", "ClusterRole", "reader", kTrainer);
  EXPECT_TRUE(here.allow(kPod, asked("GET /api/v1/namespaces/default/pods")));
  EXPECT_FALSE(here.allow(kPod, asked("GET /api/v1/namespaces/other/pods")));
  EXPECT_FALSE(here.allow(kPod, asked("GET /api/v1/nodes")));
  EXPECT_FALSE(here.allow(kPod, asked("GET /metrics")));
  Grants everywhere;
  everywhere.role("", "reader", rules);
  everywhere.bind("", "b", "ClusterRole", "reader", kTrainer);
  EXPECT_TRUE(everywhere.allow(kPod, asked("GET /api/v1/pods")));
  EXPECT_TRUE(everywhere.allow(kPod, asked("GET /api/v1/namespaces/other/pods")));
  EXPECT_TRUE(everywhere.allow(kPod, asked("GET /api/v1/nodes")));
  EXPECT_TRUE(everywhere.allow(kPod, asked("GET /metrics")));
  EXPECT_TRUE(everywhere.allow(kPod, asked("GET /logs/a")));
  EXPECT_FALSE(everywhere.allow(kPod, asked("GET /logs")));
  Grants wrong;
  wrong.role("other", "r", rules);
  wrong.bind("default", "b", "Role", "r", kTrainer);         // of another namespace
  wrong.bind("default", "c", "ClusterRole", "r", kTrainer);  // there is none
  wrong.bind("", "d", "Role", "r", kTrainer);                // a cluster has no Roles
  EXPECT_FALSE(wrong.allow(kPod, asked("GET /api/v1/namespaces/default/pods")));
}

TEST(Rbac, RefusalsAreKubernetesOwnSentences) {
  const auto said = [](const char* request) { return forbidden_message(kPod, asked(request)); };
  EXPECT_EQ(
      said("GET /api/v1/namespaces/default/pods"),
      "pods is forbidden: User \"system:serviceaccount:default:trainer\" cannot list resource "
      "\"pods\" in API group \"\" in the namespace \"default\"");
  EXPECT_EQ(said("GET /api/v1/namespaces/default/pods/a/log"),
            "pods \"a\" is forbidden: User \"system:serviceaccount:default:trainer\" cannot get "
            "resource \"pods/log\" in API group \"\" in the namespace \"default\"");
  EXPECT_EQ(said("DELETE /apis/batch/v1/jobs/x"),
            "jobs.batch \"x\" is forbidden: User \"system:serviceaccount:default:trainer\" cannot "
            "delete resource \"jobs\" in API group \"batch\" at the cluster scope");
  EXPECT_EQ(
      said("GET /metrics"),
      "forbidden: User \"system:serviceaccount:default:trainer\" cannot get path \"/metrics\"");
}

}  // namespace
}  // namespace muster::server
