#include <set>

#include <gmock/gmock.h>

#include "server/volumes/binding.h"
#include "server/volumes/directories.h"
#include "unit/server/support.h"

namespace muster::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Directories that exist only here.
class FakeDirectories final : public VolumeDirectories {
 public:
  struct Disk {
    std::set<std::string> paths;
    std::string refusal;  // what every call fails with
  };
  explicit FakeDirectories(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {}
  [[nodiscard]] const std::string& root() const override { return root_; }
  Task<Result<void>> make(std::string path) override {
    if (!disk_->refusal.empty()) co_return fail(ErrorCode::Io, disk_->refusal);
    disk_->paths.insert(std::move(path));
    co_return Result<void>{};
  }
  Task<Result<void>> remove(std::string path) override {
    if (!disk_->refusal.empty()) co_return fail(ErrorCode::Io, disk_->refusal);
    disk_->paths.erase(path);
    co_return Result<void>{};
  }

 private:
  std::string root_ = "/home/volumes";
  std::shared_ptr<Disk> disk_;
};

class VolumeTest : public ServerTest {
 protected:
  VolumeTest() {
    loop_.run(server_->close());
    auto made =
        loop_.run(EmbeddedServer::create({.loop = loop_,
                                          .rng = rng_,
                                          .registry = registry_,
                                          .volumes = std::make_unique<FakeDirectories>(disk_)}));
    EXPECT_TRUE(made.has_value());
    server_ = std::move(*made);
  }

  json::Value claim(std::string_view name, std::string_view more = "{}") {
    json::Value out = parse(
        R"({"spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}})");
    out["metadata"]["name"] = name;
    out["metadata"]["namespace"] = "default";
    for (const auto& [key, value] : parse(more).as_object()) out["spec"][key] = value;
    return out;
  }
  json::Value volume(std::string_view name, std::string_view more = "{}") {
    json::Value out = parse(R"({"spec":{"accessModes":["ReadWriteOnce","ReadWriteMany"],
        "capacity":{"storage":"5Gi"},"hostPath":{"path":"/data/x"}}})");
    out["metadata"]["name"] = name;
    for (const auto& [key, value] : parse(more).as_object()) out["spec"][key] = value;
    return out;
  }
  json::Value pod_with(std::string_view name, std::string_view claim_name) {
    json::Value out = pod(name);
    out["spec"]["volumes"] = json::Array{json::Object{
        {"name", "data"},
        {"persistentVolumeClaim", json::Object{{"claimName", std::string(claim_name)}}}}};
    return out;
  }
  json::Value claim_now(const std::string& name) {
    settle();
    const auto found = get(api::persistent_volume_claims(), name);
    return found ? **found : json::Value();
  }
  json::Value volume_now(const std::string& name) {
    settle();
    const auto found = get(api::persistent_volumes(), name);
    return found ? **found : json::Value();
  }
  std::string phase(const json::Value& object) { return object["status"]["phase"].as_string(); }
  std::vector<std::string> messages(const std::string& about) {
    settle();
    std::vector<std::string> out;
    const auto events = list(api::events());
    for (const auto& event : events->items) {
      if ((*event)["involvedObject"]["name"].as_string() == about)
        out.push_back((*event)["message"].as_string());
    }
    return out;
  }
  void finish_pod(const std::string& name) {
    json::Value over = **get(api::pods(), name);
    over["status"]["phase"] = "Succeeded";
    ASSERT_TRUE(update_status(api::pods(), over));
  }

  std::shared_ptr<FakeDirectories::Disk> disk_ = std::make_shared<FakeDirectories::Disk>();
};

TEST_F(VolumeTest, AClaimGetsADirectoryAndKeepsIt) {
  const auto made = make(api::persistent_volume_claims(), claim("data"));
  EXPECT_EQ(made["spec"]["storageClassName"].as_string(), "standard");
  EXPECT_EQ(phase(made), "Pending");
  const auto bound = claim_now("data");
  EXPECT_EQ(phase(bound), "Bound");
  EXPECT_EQ(bound["status"]["capacity"]["storage"].as_string(), "1Gi");
  const auto name = "pvc-" + api::uid_of(made);
  EXPECT_EQ(bound["spec"]["volumeName"].as_string(), name);
  const auto volume = volume_now(name);
  EXPECT_EQ(phase(volume), "Bound");
  EXPECT_EQ(volume["spec"]["persistentVolumeReclaimPolicy"].as_string(), "Delete");
  const auto path = "/home/volumes/default_data_" + name;
  EXPECT_EQ(volume["spec"]["hostPath"]["path"].as_string(), path);
  EXPECT_THAT(disk_->paths, ElementsAre(path));
}

TEST_F(VolumeTest, ByDefaultTheDirectoryGoesWithTheClaim) {
  make(api::persistent_volume_claims(), claim("data"));
  const auto name = claim_now("data")["spec"]["volumeName"].as_string();
  ASSERT_TRUE(remove(api::persistent_volume_claims(), "data"));
  EXPECT_TRUE(claim_now("data").is_null());
  EXPECT_TRUE(volume_now(name).is_null());
  EXPECT_THAT(disk_->paths, IsEmpty());
}

TEST_F(VolumeTest, ARetainedVolumeStaysAndIsNotGivenToAnother) {
  make(api::persistent_volume_claims(), claim("data", R"({"storageClassName":"retain"})"));
  const auto name = claim_now("data")["spec"]["volumeName"].as_string();
  ASSERT_TRUE(remove(api::persistent_volume_claims(), "data"));
  EXPECT_EQ(phase(volume_now(name)), "Released");
  EXPECT_EQ(disk_->paths.size(), 1U);
  make(api::persistent_volume_claims(), claim("data", R"({"storageClassName":"retain"})"));
  EXPECT_EQ(phase(claim_now("data")), "Bound");
  EXPECT_NE(claim_now("data")["spec"]["volumeName"].as_string(), name);
  EXPECT_EQ(disk_->paths.size(), 2U);
  // Who deletes it by hand has only deleted the object.
  ASSERT_TRUE(remove(api::persistent_volumes(), name));
  EXPECT_TRUE(volume_now(name).is_null());
  EXPECT_EQ(disk_->paths.size(), 2U);
}

TEST_F(VolumeTest, AClaimStaysWhileAPodUsesIt) {
  make(api::persistent_volume_claims(), claim("data"));
  auto user = pod_with("user", "data");
  user["spec"]["nodeName"] = "n";
  make(api::pods(), user);
  make(api::pods(), pod_with("waits", "data"));
  claim_now("data");
  ASSERT_TRUE(remove(api::persistent_volume_claims(), "data"));
  EXPECT_TRUE(api::is_deleting(claim_now("data")));
  EXPECT_EQ(disk_->paths.size(), 1U);
  EXPECT_THAT(messages("data"), ::testing::Contains(HasSubstr("last pod that uses it")));
  finish_pod("user");
  EXPECT_TRUE(claim_now("data").is_null());
  EXPECT_THAT(disk_->paths, IsEmpty());
}

TEST_F(VolumeTest, APodWithoutANodeHoldsNoClaim) {
  make(api::persistent_volume_claims(), claim("data"));
  make(api::pods(), pod_with("waits", "data"));
  claim_now("data");
  ASSERT_TRUE(remove(api::persistent_volume_claims(), "data"));
  EXPECT_TRUE(claim_now("data").is_null());
}

TEST_F(VolumeTest, AVolumeMadeByHandIsPreferredAndTheSmallestThatFits) {
  make(api::persistent_volumes(), volume("large", R"({"capacity":{"storage":"9Gi"}})"));
  make(api::persistent_volumes(), volume("right"));
  make(api::persistent_volumes(), volume("small", R"({"capacity":{"storage":"1Mi"}})"));
  make(api::persistent_volumes(), volume("other", R"({"storageClassName":"else"})"));
  EXPECT_EQ(phase(volume_now("right")), "Available");
  make(api::persistent_volume_claims(), claim("data", R"({"storageClassName":""})"));
  EXPECT_EQ(claim_now("data")["spec"]["volumeName"].as_string(), "right");
  EXPECT_EQ(claim_now("data")["status"]["capacity"]["storage"].as_string(), "5Gi");
  EXPECT_EQ(phase(volume_now("right")), "Bound");
  EXPECT_THAT(disk_->paths, IsEmpty());
  // A claim of nothing that fits waits, and is bound when something does.
  make(api::persistent_volume_claims(),
       claim("huge", R"({"storageClassName":"","resources":{"requests":{"storage":"1Ti"}}})"));
  EXPECT_EQ(phase(claim_now("huge")), "Pending");
  EXPECT_THAT(
      messages("huge"),
      ElementsAre("no persistent volumes available for this claim and no storage class is set"));
  make(api::persistent_volumes(), volume("vast", R"({"capacity":{"storage":"2Ti"}})"));
  EXPECT_EQ(claim_now("huge")["spec"]["volumeName"].as_string(), "vast");
}

TEST_F(VolumeTest, AClaimMayNameItsVolumeAndAVolumeItsClaim) {
  make(api::persistent_volume_claims(),
       claim("data", R"({"storageClassName":"","volumeName":"mine"})"));
  EXPECT_EQ(phase(claim_now("data")), "Pending");
  make(api::persistent_volumes(), volume("mine"));
  EXPECT_EQ(phase(claim_now("data")), "Bound");
  make(api::persistent_volumes(),
       volume("kept", R"({"claimRef":{"namespace":"default","name":"second"}})"));
  make(api::persistent_volume_claims(), claim("first", R"({"storageClassName":""})"));
  EXPECT_EQ(phase(claim_now("first")), "Pending");
  make(api::persistent_volume_claims(), claim("second", R"({"storageClassName":""})"));
  EXPECT_EQ(claim_now("second")["spec"]["volumeName"].as_string(), "kept");
}

TEST_F(VolumeTest, OnlyDirectoriesThatWereMadeForAClaimAreRemoved) {
  make(api::persistent_volumes(), volume("mine", R"({"persistentVolumeReclaimPolicy":"Delete"})"));
  make(api::persistent_volume_claims(), claim("data", R"({"storageClassName":""})"));
  disk_->paths.insert("/data/x");
  EXPECT_EQ(phase(claim_now("data")), "Bound");
  ASSERT_TRUE(remove(api::persistent_volume_claims(), "data"));
  EXPECT_EQ(phase(volume_now("mine")), "Failed");
  EXPECT_THAT(volume_now("mine")["status"]["message"].as_string(), HasSubstr("yours to delete"));
  EXPECT_THAT(disk_->paths, ElementsAre("/data/x"));
}

TEST_F(VolumeTest, NobodyCanNameADirectoryForRemoval) {
  json::Value forged = volume("pvc-1", R"({"persistentVolumeReclaimPolicy":"Delete",
      "hostPath":{"path":"/etc"},
      "claimRef":{"namespace":"default","name":"gone","uid":"1"}})");
  forged["metadata"]["annotations"][kProvisionedBy] = kProvisioner;
  EXPECT_EQ(own_directory(forged), std::nullopt);
  forged["spec"]["hostPath"]["path"] = "/x/default_gone_pvc-1";
  EXPECT_EQ(own_directory(forged), "/x/default_gone_pvc-1");
  forged["spec"]["hostPath"]["path"] = "/x/default_gone_pvc-1/..";
  EXPECT_EQ(own_directory(forged), std::nullopt);
}

TEST_F(VolumeTest, WhatCannotBeMadeIsSaidAndTriedAgain) {
  disk_->refusal = "mkdir /full: No space left on device";
  make(api::persistent_volume_claims(), claim("data"));
  EXPECT_EQ(phase(claim_now("data")), "Pending");
  EXPECT_THAT(messages("data"), ElementsAre(HasSubstr("No space left on device")));
  disk_->refusal.clear();
  loop_.run_for(std::chrono::seconds(11));
  EXPECT_EQ(phase(claim_now("data")), "Bound");
}

TEST_F(VolumeTest, AVolumeThatHasTheNameIsInTheWayAndNothingSpins) {
  disk_->refusal = "not yet";
  const auto name = "pvc-" + api::uid_of(make(api::persistent_volume_claims(), claim("data")));
  settle();
  make(api::persistent_volumes(), volume(name));
  disk_->refusal.clear();
  loop_.run_for(std::chrono::seconds(11));
  EXPECT_EQ(phase(claim_now("data")), "Pending");
  EXPECT_THAT(messages("data"), ::testing::Contains(HasSubstr("already exists")));
  ASSERT_TRUE(remove(api::persistent_volumes(), name));
  loop_.run_for(std::chrono::seconds(11));
  EXPECT_EQ(phase(claim_now("data")), "Bound");
}

TEST_F(VolumeTest, WhatCannotBeRemovedIsSaidAndTriedAgain) {
  make(api::persistent_volume_claims(), claim("data"));
  const auto name = claim_now("data")["spec"]["volumeName"].as_string();
  disk_->refusal = "remove: Device or resource busy";
  ASSERT_TRUE(remove(api::persistent_volume_claims(), "data"));
  EXPECT_EQ(phase(volume_now(name)), "Failed");
  EXPECT_THAT(messages(name), ElementsAre(HasSubstr("busy")));
  disk_->refusal.clear();
  loop_.run_for(std::chrono::seconds(11));
  EXPECT_TRUE(volume_now(name).is_null());
}

TEST_F(VolumeTest, AClassSaysWhereAndWhen) {
  make(api::storage_classes(),
       parse(R"({"metadata":{"name":"fast"},"provisioner":"muster.dev/local",
      "parameters":{"path":"/nvme"},"volumeBindingMode":"WaitForFirstConsumer"})"));
  make(api::persistent_volume_claims(), claim("data", R"({"storageClassName":"fast"})"));
  EXPECT_EQ(phase(claim_now("data")), "Pending");
  EXPECT_THAT(messages("data"), ElementsAre(HasSubstr("first consumer")));
  make(api::pods(), pod_with("user", "data"));
  EXPECT_EQ(phase(claim_now("data")), "Bound");
  EXPECT_THAT(*disk_->paths.begin(), HasSubstr("/nvme/default_data_pvc-"));
}

TEST_F(VolumeTest, AClassThatNobodyServesIsSaid) {
  make(api::persistent_volume_claims(), claim("data", R"({"storageClassName":"gold"})"));
  EXPECT_EQ(phase(claim_now("data")), "Pending");
  EXPECT_THAT(messages("data"), ElementsAre("storageclass.storage.k8s.io \"gold\" not found"));
  make(api::storage_classes(),
       parse(R"({"metadata":{"name":"gold"},"provisioner":"ebs.csi.aws.com"})"));
  EXPECT_THAT(messages("data"), ::testing::Contains(HasSubstr("classes of provisioner")));
}

TEST_F(VolumeTest, ABoundClaimWhoseVolumeIsGoneIsLost) {
  make(api::persistent_volume_claims(), claim("data"));
  auto volume = volume_now(claim_now("data")["spec"]["volumeName"].as_string());
  volume["metadata"]["finalizers"] = json::Array{};
  ASSERT_TRUE(update(api::persistent_volumes(), volume));
  ASSERT_TRUE(remove(api::persistent_volumes(), api::name_of(volume)));
  EXPECT_EQ(phase(claim_now("data")), "Lost");
}

TEST_F(VolumeTest, ANamespaceTakesItsClaimsWithIt) {
  make(api::namespaces(), parse(R"({"metadata":{"name":"team"}})"));
  auto wanted = claim("data");
  wanted["metadata"]["namespace"] = "team";
  make(api::persistent_volume_claims(), wanted);
  settle();
  EXPECT_EQ(disk_->paths.size(), 1U);
  ASSERT_TRUE(remove(api::namespaces(), "team"));
  settle();
  EXPECT_FALSE(exists(api::namespaces(), "team"));
  EXPECT_THAT(disk_->paths, IsEmpty());
}

TEST_F(VolumeTest, BadOnesAreRefusedWithTheField) {
  struct Case {
    const api::Resource& resource;
    json::Value object;
    const char* field;
  };
  const std::vector<Case> cases = {
      {api::persistent_volume_claims(), claim("x", R"({"accessModes":[]})"), "spec.accessModes"},
      {api::persistent_volume_claims(), claim("x", R"({"accessModes":["ReadWriteOncePod"]})"),
       "spec.accessModes[0]"},
      {api::persistent_volume_claims(), claim("x", R"({"resources":{}})"),
       "spec.resources.requests.storage"},
      {api::persistent_volume_claims(), claim("x", R"({"resources":{"requests":{"storage":"0"}}})"),
       "spec.resources.requests.storage"},
      {api::persistent_volume_claims(), claim("x", R"({"volumeMode":"Block"})"), "spec.volumeMode"},
      {api::persistent_volume_claims(), claim("x", R"({"dataSource":{"name":"y"}})"),
       "spec.dataSource"},
      {api::persistent_volumes(), volume("x", R"({"hostPath":{"path":"a"}})"),
       "spec.hostPath.path"},
      {api::persistent_volumes(), volume("x", R"({"hostPath":null,"nfs":{"server":"s"}})"),
       "spec.hostPath"},
      {api::persistent_volumes(), volume("x", R"({"capacity":{}})"), "spec.capacity.storage"},
      {api::persistent_volumes(), volume("x", R"({"persistentVolumeReclaimPolicy":"Recycle"})"),
       "spec.persistentVolumeReclaimPolicy"},
      {api::storage_classes(), parse(R"({"metadata":{"name":"x"}})"), "provisioner"},
      {api::storage_classes(), parse(R"({"metadata":{"name":"x"},"provisioner":"muster.dev/local",
          "parameters":{"path":"../x"}})"),
       "parameters.path"},
      {api::storage_classes(), parse(R"({"metadata":{"name":"x"},"provisioner":"muster.dev/local",
          "parameters":{"size":"1"}})"),
       "parameters.size"},
  };
  for (const auto& [resource, object, field] : cases) {
    const auto made = create(resource, object);
    ASSERT_FALSE(made) << field << " " << json::write(object);
    ASSERT_FALSE(made.error().causes.empty()) << made.error().message;
    EXPECT_EQ(made.error().causes.front().field, field) << made.error().message;
  }
}

TEST_F(VolumeTest, PortsOfAPodInTheHostsNetworkAreTheHosts) {
  auto made = pod("p");
  made["spec"]["containers"] = parse(
      R"([{"name":"main","image":"i:1","ports":[{"containerPort":80},{"containerPort":81,"hostPort":81}]}])");
  const auto apart = make(api::pods(), made);
  EXPECT_TRUE(apart["spec"]["containers"][0]["ports"][0]["hostPort"].is_null());
  made["metadata"]["name"] = "q";
  made["spec"]["hostNetwork"] = true;
  const auto hosted = make(api::pods(), made);
  EXPECT_EQ(hosted["spec"]["containers"][0]["ports"][0]["hostPort"].as_int(), 80);
  EXPECT_EQ(hosted["spec"]["containers"][0]["ports"][1]["hostPort"].as_int(), 81);
}

TEST_F(VolumeTest, AClaimsSpecDoesNotChange) {
  make(api::persistent_volume_claims(), claim("data"));
  auto changed = claim_now("data");
  changed["spec"]["resources"]["requests"]["storage"] = "2Gi";
  const auto updated = update(api::persistent_volume_claims(), changed);
  ASSERT_FALSE(updated);
  EXPECT_THAT(updated.error().message, HasSubstr("immutable"));
}

}  // namespace
}  // namespace muster::server
