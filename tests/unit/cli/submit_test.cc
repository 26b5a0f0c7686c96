#include <fstream>

#include "cli/verbs/verbs.h"
#include "json/read.h"
#include "json/write.h"
#include "live_errors.h"
#include "rt/scope.h"

// What `run` makes of the objects of a file, and of what is there already.
namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Submit : public VerbTest {
 public:
  using VerbTest::store_status;
  std::string file(const std::string& text) {
    const std::string path = home() + "/objects.yaml";
    std::ofstream(path) << text;
    return path;
  }
  // Nothing of these files runs, or it is left to itself.
  Outcome submit(const std::string& text) {
    const std::string path = file(text);
    return outcome(
        [&](Context& context) { return run(context, {.files = {path}, .detach = true}); });
  }
  [[nodiscard]] json::Value stored(const api::Resource& resource, const std::string& name) {
    const bool wide = !resource.namespaced();
    const auto found =
        loop().run(cluster().get(resource, {.ns = wide ? "" : "default", .name = name}));
    return found ? **found : json::Value();
  }
  [[nodiscard]] std::string job(const std::string& name) const {
    return json::write(toy_.job(name)) + "\n---\n";
  }

  const ToyKind& toy_ = kind("Toy", "toy.dev");
};

constexpr const char* kSettings = R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {rate: "0.1"}}
---
)";
constexpr const char* kClaim = R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
)";

TEST_F(Submit, WhatTheFileSaysIsMadeKeptOrChanged) {
  const Outcome first = submit(kSettings);
  EXPECT_EQ(first.code, exit_code::kOk) << first.err;
  EXPECT_EQ(first.err, "   Created  ConfigMap default/settings\n");
  EXPECT_EQ(submit(kSettings).err, "Up to date  ConfigMap default/settings\n");
  const Outcome changed =
      submit("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {rate: '0.2'}}");
  EXPECT_EQ(changed.code, exit_code::kOk) << changed.err;
  EXPECT_EQ(stored(api::config_maps(), "settings")["data"]["rate"].as_string(), "0.2");
}

TEST_F(Submit, ANamespaceThatIsThereIsKept) {
  const std::string text =
      "{apiVersion: v1, kind: Namespace, metadata: {name: ml, labels: {a: b}}}";
  EXPECT_EQ(submit(text).err, "   Created  Namespace ml\n");
  EXPECT_EQ(submit("{apiVersion: v1, kind: Namespace, metadata: {name: ml, labels: {a: c}}}").err,
            "Up to date  Namespace ml\n");
  EXPECT_EQ(stored(api::namespaces(), "ml")["metadata"]["labels"]["a"].as_string(), "b");
}

TEST_F(Submit, AClaimIsForGood) {
  EXPECT_EQ(submit(kClaim).code, exit_code::kOk);
  EXPECT_EQ(submit(kClaim).err, "Up to date  PersistentVolumeClaim default/data\n");
  std::string larger = kClaim;
  larger.replace(larger.find("1Gi"), 3, "2Gi");
  const Outcome refused = submit(larger + kSettings);
  EXPECT_EQ(refused.code, exit_code::kOurs);
  EXPECT_THAT(refused.err, HasSubstr("error: PersistentVolumeClaim default/data exists and differs "
                                     "from the file, and what it says is for good"));
  EXPECT_TRUE(stored(api::config_maps(), "settings").is_null()) << "nothing of the file is made";
}

TEST_F(Submit, AJobOfThatNameThatRunsIsInTheWay) {
  create(toy_, "bert", json::Object{{"state", "GOING"}});
  const Outcome refused = submit(kSettings + job("bert"));
  EXPECT_EQ(refused.code, exit_code::kOurs);
  EXPECT_EQ(refused.err,
            "error: Toy default/bert is still running; follow it with: muster logs -f bert   stop "
            "it with: muster delete bert\n");
  EXPECT_TRUE(stored(api::config_maps(), "settings").is_null()) << "nothing of the file is made";
}

TEST_F(Submit, OneThatHasEndedMakesRoom) {
  create(toy_, "bert", json::Object{{"state", "DONE"}});
  const std::string before = uid_of(toy_, "bert");
  const Outcome seen = submit(job("bert"));
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  EXPECT_THAT(seen.err, HasSubstr("   Created  Toy default/bert on this machine"));
  EXPECT_NE(uid_of(toy_, "bert"), before);
  EXPECT_NE(uid_of(toy_, "bert"), "");
}

TEST_F(Submit, SoDoPods) {
  create(api::pods(), pod("lone", json::Object{{"running", json::Object{}}}));
  const std::string text = json::write(pod("lone"));
  const Outcome refused = submit(text);
  EXPECT_EQ(refused.code, exit_code::kOurs);
  EXPECT_EQ(refused.err,
            "error: Pod default/lone is still there; delete it with: muster delete pods lone\n");
  json::Value ended = stored(api::pods(), "lone");
  const std::string before = api::uid_of(ended);
  ended["status"]["phase"] = "Succeeded";
  ASSERT_TRUE(loop().run(cluster().update_status(api::pods(), ended)));
  EXPECT_EQ(submit(text).code, exit_code::kOk);
  EXPECT_NE(api::uid_of(stored(api::pods(), "lone")), before);
}

TEST_F(Submit, WhatIsBeingDeletedIsWaitedFor) {
  json::Value held = *json::read(R"({"apiVersion":"v1","kind":"ConfigMap",
      "metadata":{"name":"settings","namespace":"default","finalizers":["example.org/slow"]}})");
  create(api::config_maps(), held);
  static_cast<void>(
      loop().run(cluster().remove(api::config_maps(), {.ns = "default", .name = "settings"}, {})));
  const Outcome refused = submit(kSettings);
  EXPECT_EQ(refused.code, exit_code::kOurs);
  EXPECT_EQ(refused.err,
            "error: ConfigMap default/settings is being deleted; wait until it is gone\n");
}

TEST_F(Submit, WhatTheServerWouldRefuseIsSaidBeforeAnythingIsMade) {
  const Outcome refused = submit(std::string(kSettings) + R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {resources: {requests: {storage: 1Gi}}}
)");
  EXPECT_EQ(refused.code, exit_code::kOurs);
  EXPECT_THAT(refused.err, HasSubstr("accessModes"));
  EXPECT_TRUE(stored(api::config_maps(), "settings").is_null());
}

TEST_F(Submit, AGeneratedNameIsAlwaysANewOne) {
  const std::string text = "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: set-}}";
  EXPECT_EQ(submit(text).code, exit_code::kOk);
  EXPECT_EQ(submit(text).code, exit_code::kOk);
  const auto all = loop().run(cluster().list(api::config_maps(), {.where = {.ns = "default"}}));
  ASSERT_TRUE(all);
  EXPECT_EQ(std::ranges::count_if(
                all->items, [](const auto& one) { return api::name_of(*one).starts_with("set-"); }),
            2);
}

// --rm and Ctrl-C take back what was made, and never what may hold data.
TEST_F(Submit, WhatHoldsDataIsKept) {
  struct Side {
    static Task<void> end(Submit& test, LiveErrors& told) {
      co_await told.until("Created  Toy default/bert");
      co_await test.store_status(test.toy_, "bert", json::Object{{"state", "DONE"}});
    }
  };
  const std::string path = file(kClaim + std::string(kSettings) + job("bert"));
  LiveErrors told(loop(), output());
  rt::TaskScope scope(loop());
  scope.spawn(Side::end(*this, told));
  const Outcome seen =
      outcome([&](Context& context) { return run(context, {.files = {path}, .remove = true}); });
  loop().run(scope.close());
  EXPECT_EQ(seen.code, exit_code::kOk) << seen.err;
  EXPECT_THAT(seen.err, HasSubstr("      Kept  PersistentVolumeClaim default/data; delete it with: "
                                  "muster delete persistentvolumeclaims data\n"));
  EXPECT_FALSE(exists(toy_, "bert"));
  EXPECT_TRUE(stored(api::config_maps(), "settings").is_null());
  EXPECT_FALSE(stored(api::persistent_volume_claims(), "data").is_null());
}

class OnACluster : public Submit {
 public:
  // The same server by way of a kubeconfig: it is asked, nothing is known before.
  Outcome submit_there(const std::string& text) {
    const std::string path = file(text);
    return outcome([&](Context& context) {
      context.kubeconfig = kubeconfig();
      return run(context, {.files = {path}, .detach = true});
    });
  }
  const ToyKind& unserved_ = kind("Other", "other.dev", Where::OnlyKnown);
};

TEST_F(OnACluster, AKindThatItDoesNotKnowIsSaidAndNothingStays) {
  const Outcome refused = submit_there(kSettings + json::write(unserved_.job("bert")));
  EXPECT_EQ(refused.code, exit_code::kOurs);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("others.other.dev"), HasSubstr("kubectl apply")));
  EXPECT_TRUE(stored(api::config_maps(), "settings").is_null()) << "made before, and taken back";
}

TEST_F(OnACluster, ANamespaceThatIsNotThereIsSomethingElse) {
  json::Value elsewhere = toy_.job("bert");
  elsewhere["metadata"]["namespace"] = "nowhere";
  const Outcome refused = submit_there(json::write(elsewhere));
  EXPECT_EQ(refused.code, exit_code::kOurs);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("nowhere"), Not(HasSubstr("kubectl apply"))));
}

TEST_F(OnACluster, WhoseJobsCarryNothingOfThisMachine) {
  EXPECT_EQ(submit_there(job("bert")).code, exit_code::kOk);
  EXPECT_THAT(
      api::annotation_of(stored(toy_.identity().resource, "bert"), plan::kEnvironmentAnnotation),
      IsEmpty());
  EXPECT_EQ(submit(job("gpt")).code, exit_code::kOk);
  EXPECT_THAT(
      api::annotation_of(stored(toy_.identity().resource, "gpt"), plan::kEnvironmentAnnotation),
      Not(IsEmpty()));
}

}  // namespace
}  // namespace muster::cli
