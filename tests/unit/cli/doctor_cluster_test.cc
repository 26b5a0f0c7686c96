#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor/cluster_checks.h"
#include "cli/doctor/crd_difference.h"
#include "dialects/registry.h"

// What `muster doctor` says of a cluster, word for word.
namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

Time at(std::string_view text) {
  return parse_time(text).value();
}

ClusterFacts good_cluster() {
  return {.where = "cluster ml (https://10.0.0.1:6443)",
          .ns = "training",
          .now = at("2026-11-16T17:00:00Z"),
          .server_version = "v1.34.1",
          .server_time = at("2026-11-16T16:59:59Z"),
          .server_certificate_ends = at("2027-11-16T00:00:00Z"),
          .own_certificate_ends = at("2027-02-01T00:00:00Z"),
          .user = "ada",
          .kinds = {{.name = "trainjobs.example.org", .state = KindFact::State::Same},
                    {.name = "otherjobs.example.org", .state = KindFact::State::Same}},
          .rights = {{.verb = "create", .resource = "trainjobs.example.org", .allowed = true},
                     {.verb = "list", .resource = "pods", .allowed = true},
                     {.verb = "get", .resource = "pods/log", .allowed = true},
                     {.verb = "create", .resource = "pods/exec", .needed = false, .allowed = true}},
          .leader = "muster-operator-1_abc"};
}

std::string text_of(const ClusterFacts& facts) {
  return findings_text(check_cluster(facts));
}

TEST(DoctorOfACluster, FindsAGoodOneGood) {
  EXPECT_EQ(text_of(good_cluster()),
            "ok   server                 cluster ml (https://10.0.0.1:6443) runs v1.34.1\n"
            "ok   server's certificate   valid until 2027-11-16T00:00:00Z\n"
            "ok   own certificate        valid until 2027-02-01T00:00:00Z\n"
            "ok   clock                  as the server's, to a few seconds\n"
            "ok   user                   ada\n"
            "ok   kinds                  trainjobs.example.org, otherjobs.example.org as this "
            "version has them\n"
            "ok   rights                 all that jobs in training need\n"
            "ok   operator               muster-operator-1_abc leads\n"
            "0 errors, 0 warnings\n");
}

TEST(DoctorOfACluster, WithoutOurKinds) {
  ClusterFacts facts = good_cluster();
  for (KindFact& kind : facts.kinds) kind.state = KindFact::State::Absent;
  facts.leader.clear();
  EXPECT_EQ(text_of(facts),
            "ok        server                 cluster ml (https://10.0.0.1:6443) runs v1.34.1\n"
            "ok        server's certificate   valid until 2027-11-16T00:00:00Z\n"
            "ok        own certificate        valid until 2027-02-01T00:00:00Z\n"
            "ok        clock                  as the server's, to a few seconds\n"
            "ok        user                   ada\n"
            "error     kinds                  the cluster knows none of Muster's kinds; remedy: "
            "kubectl apply --server-side -k deploy\n"
            "ok        rights                 all that jobs in training need\n"
            "warning   operator               nobody holds its lease: jobs wait, unless one runs "
            "without --leader-elect; remedy: kubectl apply --server-side -k deploy; one that is "
            "there says why: kubectl -n muster-system logs deploy/muster-operator\n"
            "1 error, 1 warning\n");
  EXPECT_TRUE(has_error(check_cluster(facts)));
}

TEST(DoctorOfACluster, WithOldKinds) {
  ClusterFacts facts = good_cluster();
  facts.kinds[1] = {.name = "otherjobs.example.org",
                    .state = KindFact::State::Old,
                    .lacking = {"spec.a", "spec.b", "spec.c", "spec.d", "spec.e"}};
  EXPECT_THAT(text_of(facts),
              HasSubstr("ok      kinds                  trainjobs.example.org as this version has "
                        "them\n"
                        "error   kinds                  otherjobs.example.org is of another "
                        "version: its CRD lacks spec.a, spec.b, spec.c and 2 more, which the "
                        "server drops from jobs; remedy: kubectl apply --server-side -k "
                        "deploy/crds\n"));
}

TEST(DoctorOfACluster, WithMissingRights) {
  ClusterFacts facts = good_cluster();
  for (RightFact& right : facts.rights) right.allowed = false;
  facts.rights.push_back({.verb = "watch", .resource = "pods"});
  EXPECT_THAT(
      text_of(facts),
      HasSubstr("error   rights                 may not, in training: create "
                "trainjobs.example.org, list+watch pods, get pods/log, create pods/exec; remedy: "
                "kubectl -n training create role muster-user "
                "--verb=get,list,watch,create,update,delete "
                "--resource=trainjobs.example.org,pods,pods/log,pods/exec && kubectl -n training "
                "create rolebinding muster-user-ada --role=muster-user --user=ada\n"));
  for (RightFact& right : facts.rights) right.allowed = right.needed;
  EXPECT_THAT(
      text_of(facts),
      HasSubstr("warning   rights                 may not, in training: create pods/exec;"));
}

TEST(DoctorOfACluster, WithAnExpiredCertificate) {
  ClusterFacts facts = good_cluster();
  facts.own_certificate_ends = at("2026-11-14T17:00:00Z");
  facts.refused = Error{.code = ErrorCode::Unauthorized, .message = "Unauthorized"};
  EXPECT_EQ(text_of(facts),
            "ok      server                 cluster ml (https://10.0.0.1:6443) runs v1.34.1\n"
            "ok      server's certificate   valid until 2027-11-16T00:00:00Z\n"
            "error   own certificate        expired 2d ago, at 2026-11-14T17:00:00Z; remedy: a "
            "new one for this kubeconfig: kubeadm certs renew admin.conf, or from whoever gave it "
            "to you\n"
            "ok      clock                  as the server's, to a few seconds\n"
            "error   user                   the server refuses us: Unauthorized; remedy: new "
            "credentials for this kubeconfig; kubectl auth whoami shows whose they are\n"
            "2 errors, 0 warnings\n");
}

TEST(DoctorOfACluster, ThatCannotBeReached) {
  ClusterFacts facts = good_cluster();
  facts.server_time.reset();
  facts.server_certificate_ends.reset();
  const std::pair<const char*, const char*> table[] = {
      {"connect to 10.0.0.1:6443: Connection refused", "kubectl cluster-info"},
      {"the certificate of \"10.0.0.1\" is refused: certificate has expired",
       "renew the API server's certificate: kubeadm certs renew apiserver"},
      {"the certificate of \"10.0.0.1\" is refused: self-signed certificate",
       "put the CA of this server into the kubeconfig (certificate-authority-data)"}};
  for (const auto& [message, remedy] : table) {
    facts.unreachable = Error{.code = ErrorCode::Unavailable, .message = message};
    const std::string text = text_of(facts);
    EXPECT_THAT(text, HasSubstr(std::string("error   server            cluster ml "
                                            "(https://10.0.0.1:6443): ") +
                                message + "; remedy: "));
    EXPECT_THAT(text, HasSubstr(remedy));
    EXPECT_THAT(text, HasSubstr("\n1 error, 0 warnings\n"));
  }
}

TEST(DoctorOfACluster, EverythingElseHasItsOwnWords) {
  const struct {
    const char* said;
    std::function<void(ClusterFacts&)> change;
  } table[] = {
      {"warning   own certificate        valid until 2026-11-20T17:00:00Z, 4d from now; remedy:",
       [](ClusterFacts& it) { it.own_certificate_ends = at("2026-11-20T17:00:00Z"); }},
      {"warning   clock                  the server's is 10s behind of this machine's; remedy:",
       [](ClusterFacts& it) { it.server_time = it.now - 10s; }},
      {"error   clock                  the server's is 2m ahead of this machine's; remedy:",
       [](ClusterFacts& it) { it.server_time = it.now + 120s; }},
      {"ok   kinds                  otherjobs.example.org; of which version only an "
       "administrator can see",
       [](ClusterFacts& it) { it.kinds[1].state = KindFact::State::Unknown; }},
      {"warning   kinds                  without otherjobs.example.org; remedy: kubectl apply",
       [](ClusterFacts& it) { it.kinds[1].state = KindFact::State::Absent; }},
      {"ok   operator               whether one runs only an administrator can see",
       [](ClusterFacts& it) {
         it.leader.clear();
         it.leader_unknown = true;
       }},
  };
  for (const auto& row : table) {
    ClusterFacts facts = good_cluster();
    row.change(facts);
    EXPECT_THAT(text_of(facts), HasSubstr(row.said));
  }
}

TEST(DoctorOfACluster, ReadsTheServersClock) {
  EXPECT_EQ(parse_http_date("Mon, 16 Nov 2026 17:00:00 GMT"), at("2026-11-16T17:00:00Z"));
  for (const char* text : {"", "yesterday", "Mon, 16 Nov 2026 17:00:00 GMT+1", "16 Nov 2026",
                           "Mon, 16 Nov 9999 17:00:00 GMT"})
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
}

json::Value crd_of(const plan::Dialect& dialect) {
  json::Object subresources{{"status", json::Object{}}};
  if (!dialect.identity().scale_spec_path.empty()) subresources["scale"] = json::Object{};
  json::Value version =
      json::Object{{"name", dialect.identity().resource.version},
                   {"served", true},
                   {"subresources", std::move(subresources)},
                   {"schema", json::Object{{"openAPIV3Schema", dialect.schema()}}}};
  return json::Object{{"spec", json::Object{{"versions", json::Array{std::move(version)}}}}};
}

TEST(CrdDifference, OfEveryKind) {
  const plan::Registry registry = dialects::make_registry();
  for (const auto& dialect : registry.all()) {
    const json::Value same = crd_of(*dialect);
    EXPECT_THAT(lacking_in(same, *dialect), IsEmpty()) << dialect->identity().resource.qualified();

    json::Value without_spec = same;
    auto& version = without_spec["spec"]["versions"].array()[0];
    version["schema"]["openAPIV3Schema"]["properties"].object().erase("spec");
    EXPECT_THAT(lacking_in(without_spec, *dialect), ElementsAre("spec"));

    // What an open schema does not name it keeps all the same.
    version["schema"]["openAPIV3Schema"]["x-kubernetes-preserve-unknown-fields"] = true;
    EXPECT_THAT(lacking_in(without_spec, *dialect), IsEmpty());

    json::Value without_status = same;
    without_status["spec"]["versions"].array()[0]["subresources"].object().clear();
    EXPECT_THAT(lacking_in(without_status, *dialect), testing::Contains("the subresource status"));

    json::Value not_served = same;
    not_served["spec"]["versions"].array()[0]["served"] = false;
    EXPECT_THAT(lacking_in(not_served, *dialect),
                ElementsAre("version " + dialect->identity().resource.version));
  }
}

TEST(CrdDifference, SeesIntoListsAndMaps) {
  const plan::Registry registry = dialects::make_registry();
  const auto& dialect = *registry.all().front();
  json::Value crd = crd_of(dialect);
  json::Value& schema =
      crd["spec"]["versions"].array()[0]["schema"]["openAPIV3Schema"]["properties"]["status"];
  ASSERT_TRUE(schema["properties"]["conditions"]["items"]["properties"].is_object());
  schema["properties"]["conditions"]["items"]["properties"].object().erase("reason");
  EXPECT_THAT(lacking_in(crd, dialect), ElementsAre("status.conditions.reason"));
}

}  // namespace
}  // namespace muster::cli
