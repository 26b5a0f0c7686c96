#include "contract.h"

#include "api/pod.h"

// Pods, their status and their subresources.
namespace muster::contract {
namespace {

using ::testing::HasSubstr;

TEST_P(Contract, APodIsDefaulted) {
  Value object = pod("p");
  object["spec"].object().erase("schedulerName");
  const auto created = must(cluster().create(api::pods(), object));
  const Value& spec = (*created)["spec"];
  EXPECT_EQ(spec["restartPolicy"].as_string(), "Always");
  EXPECT_EQ(spec["terminationGracePeriodSeconds"], Value(30));
  EXPECT_EQ(spec["dnsPolicy"].as_string(), "ClusterFirst");
  EXPECT_EQ(spec["schedulerName"].as_string(), "default-scheduler");
  EXPECT_EQ(spec["serviceAccountName"].as_string(), "default");
  EXPECT_EQ(spec["containers"][0]["imagePullPolicy"].as_string(), "IfNotPresent");
  EXPECT_EQ(spec["containers"][0]["terminationMessagePath"].as_string(), "/dev/termination-log");
  EXPECT_TRUE(spec["securityContext"].is_object());
  EXPECT_EQ(api::phase_of(*created), api::PodPhase::Pending);
  EXPECT_EQ((*created)["status"]["qosClass"].as_string(), "BestEffort");
}

TEST_P(Contract, APodWithoutContainersIsInvalidAndThePathIsNamed) {
  Value object = pod("p");
  object["spec"]["containers"] = json::Array();
  EXPECT_EQ(error_of(cluster().create(api::pods(), object)), ErrorCode::Invalid);
  EXPECT_TRUE(blames("spec.containers"));
  EXPECT_THAT(last_error_.message, HasSubstr("Pod \"p\" is invalid"));
}

TEST_P(Contract, EveryFaultOfAPodIsNamed) {
  Value object = pod("p");
  object["spec"]["restartPolicy"] = "Sometimes";
  object["spec"]["containers"].array()[0]["name"] = "Main_1";
  object["spec"]["containers"].array()[0]["env"] =
      json::Array{json::Object{{"name", ""}, {"value", "x"}}};
  EXPECT_EQ(error_of(cluster().create(api::pods(), object)), ErrorCode::Invalid);
  EXPECT_TRUE(blames("spec.restartPolicy"));
  EXPECT_TRUE(blames("spec.containers[0].name"));
  EXPECT_TRUE(blames("spec.containers[0].env[0].name"));
}

TEST_P(Contract, AMountWithoutAVolumeIsInvalid) {
  Value object = pod("p");
  object["spec"]["containers"].array()[0]["volumeMounts"] =
      json::Array{json::Object{{"name", "data"}, {"mountPath", "/data"}}};
  EXPECT_EQ(error_of(cluster().create(api::pods(), object)), ErrorCode::Invalid);
  EXPECT_TRUE(blames("spec.containers[0].volumeMounts[0].name"));
}

TEST_P(Contract, WhatAPodRunsCannotBeChanged) {
  Value changed = *create_pod("p");
  changed["spec"]["containers"].array()[0]["command"] = json::Array{"false"};
  EXPECT_EQ(error_of(cluster().update(api::pods(), changed)), ErrorCode::Invalid);
  EXPECT_TRUE(blames("spec"));
}

TEST_P(Contract, TheMainResourceDoesNotChangeStatus) {
  Value changed = *create_pod("p");
  changed["status"]["phase"] = "Failed";
  changed["metadata"]["labels"]["l"] = "m";
  const auto updated = must(cluster().update(api::pods(), changed));
  EXPECT_EQ(api::phase_of(*updated), api::PodPhase::Pending);
  EXPECT_EQ(api::label_of(*updated, "l"), "m");
}

TEST_P(Contract, AStatusWriteDoesNotChangeTheSpec) {
  Value changed = *create_pod("p");
  changed["status"]["phase"] = "Running";
  changed["status"]["podIP"] = "10.1.2.3";
  changed["spec"]["containers"].array()[0]["image"] = "other:1";
  const auto updated = must(cluster().update_status(api::pods(), changed));
  EXPECT_EQ(api::phase_of(*updated), api::PodPhase::Running);
  EXPECT_EQ((*updated)["spec"]["containers"][0]["image"].as_string(), "example.com/train:1");
  EXPECT_EQ(*get(api::pods(), "p"), *updated);
}

TEST_P(Contract, AStaleStatusWriteIsAConflict) {
  const auto created = create_pod("p");
  Value changed = *created;
  changed["metadata"]["labels"]["l"] = "m";
  must(cluster().update(api::pods(), changed));
  Value stale = *created;
  stale["status"]["phase"] = "Running";
  EXPECT_EQ(error_of(cluster().update_status(api::pods(), stale)), ErrorCode::Conflict);
}

TEST_P(Contract, AStatusWriteWithAnotherUidIsAConflict) {
  const auto first = create_pod("p");
  remove(api::pods(), "p");
  create_pod("p");
  Value late = *first;
  late["metadata"].object().erase("resourceVersion");
  late["status"]["phase"] = "Failed";
  EXPECT_EQ(error_of(cluster().update_status(api::pods(), late)), ErrorCode::Conflict);
  EXPECT_EQ(api::phase_of(*get(api::pods(), "p")), api::PodPhase::Pending);
}

TEST_P(Contract, TheGenerationMovesWithTheSpecOnly) {
  const auto created = create_pod("p");
  EXPECT_EQ(api::generation_of(*created), 1);
  Value labelled = *created;
  labelled["metadata"]["labels"]["l"] = "m";
  const auto second = must(cluster().update(api::pods(), labelled));
  EXPECT_EQ(api::generation_of(*second), 1);
  Value running = *second;
  running["status"]["phase"] = "Running";
  const auto third = must(cluster().update_status(api::pods(), running));
  EXPECT_EQ(api::generation_of(*third), 1);
  Value other = *third;
  other["spec"]["containers"].array()[0]["image"] = "example.com/train:2";
  EXPECT_EQ(api::generation_of(*must(cluster().update(api::pods(), other))), 2);
}

TEST_P(Contract, BindingPutsAPodOnANode) {
  const std::string node = make_node();
  const auto created = create_pod("p");
  must(cluster().bind({ns(), "p"}, api::uid_of(*created), node));
  const auto bound = get(api::pods(), "p");
  EXPECT_EQ(api::node_name_of(*bound), node);
  bool scheduled = false;
  for (const auto& condition : (*bound)["status"]["conditions"].as_array()) {
    scheduled |= condition["type"].as_string() == "PodScheduled" &&
                 condition["status"].as_string() == "True";
  }
  EXPECT_TRUE(scheduled);
}

TEST_P(Contract, BindingTwiceIsAConflict) {
  const std::string node = make_node();
  const auto created = create_pod("p");
  must(cluster().bind({ns(), "p"}, api::uid_of(*created), node));
  EXPECT_EQ(error_of(cluster().bind({ns(), "p"}, api::uid_of(*created), node)),
            ErrorCode::Conflict);
}

TEST_P(Contract, BindingASuccessorIsAConflict) {
  const std::string node = make_node();
  const auto first = create_pod("p");
  remove(api::pods(), "p");
  create_pod("p");
  EXPECT_EQ(error_of(cluster().bind({ns(), "p"}, api::uid_of(*first), node)), ErrorCode::Conflict);
  EXPECT_EQ(api::node_name_of(*get(api::pods(), "p")), "");
}

TEST_P(Contract, BindingWhatIsMissingIsNotFound) {
  EXPECT_EQ(error_of(cluster().bind({ns(), "missing"}, "", "n")), ErrorCode::NotFound);
}

TEST_P(Contract, AServiceAccountGivesTokens) {
  const auto created = create_pod("p");
  const auto token = must(cluster().create_token(
      {ns(), "default"},
      {.expiration_seconds = 3600, .pod_name = "p", .pod_uid = api::uid_of(*created)}));
  EXPECT_FALSE(token.value.empty());
  const auto expires = parse_time(token.expires);
  ASSERT_TRUE(expires) << token.expires;
  EXPECT_GT(*expires, loop().now() + 30min);
  EXPECT_LT(*expires, loop().now() + 24h * 366);
}

TEST_P(Contract, AMissingServiceAccountGivesNone) {
  EXPECT_EQ(error_of(cluster().create_token({ns(), "missing"}, {})), ErrorCode::NotFound);
}

TEST_P(Contract, APodOfAMissingServiceAccountIsForbidden) {
  Value object = pod("p");
  object["spec"]["serviceAccountName"] = "missing";
  EXPECT_EQ(error_of(cluster().create(api::pods(), object)), ErrorCode::Forbidden);
}

TEST_P(Contract, APodThatIsMissingHasNoLog) {
  EXPECT_EQ(error_of(cluster().log({ns(), "missing"}, {})), ErrorCode::NotFound);
}

}  // namespace
}  // namespace muster::contract
