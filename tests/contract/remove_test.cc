#include "contract.h"

// Deleting: preconditions, finalizers, grace, owners.
namespace muster::contract {
namespace {

class ContractRemove : public Contract {
 protected:
  Value owned(const std::string& name, const ObjectPtr& owner) {
    Value object = config_map(name);
    object["metadata"]["ownerReferences"] = json::Array{json::Object{{"apiVersion", "v1"},
                                                                     {"kind", "ConfigMap"},
                                                                     {"name", api::name_of(*owner)},
                                                                     {"uid", api::uid_of(*owner)},
                                                                     {"controller", true},
                                                                     {"blockOwnerDeletion", true}}};
    return object;
  }
  bool has(const std::string& name) { return exists(api::config_maps(), {ns(), name}); }
  ObjectPtr create_bound_pod(const std::string& name) {
    const std::string node = make_node();
    const auto created = create_pod(name);
    must(cluster().bind({ns(), name}, api::uid_of(*created), node));
    return get(api::pods(), name);
  }
};
RUN_ON_EVERY_CLUSTER(ContractRemove);

TEST_P(ContractRemove, WhatWasRemovedIsNotFound) {
  const auto created = create_config_map("a");
  const auto removed = remove(api::config_maps(), "a", {.uid = api::uid_of(*created)});
  EXPECT_EQ(api::uid_of(*removed), api::uid_of(*created));
  EXPECT_FALSE(has("a"));
  EXPECT_EQ(error_of(cluster().remove(api::config_maps(), {ns(), "a"}, {})), ErrorCode::NotFound);
}

TEST_P(ContractRemove, AnotherUidIsAConflictAndTheObjectStays) {
  create_config_map("a");
  EXPECT_EQ(error_of(cluster().remove(api::config_maps(), {ns(), "a"},
                                      {.uid = "00000000-0000-4000-8000-000000000000"})),
            ErrorCode::Conflict);
  EXPECT_TRUE(has("a"));
}

TEST_P(ContractRemove, AStaleVersionIsAConflictAndTheObjectStays) {
  const auto created = create_config_map("a");
  Value changed = *created;
  changed["data"]["key"] = "w";
  must(cluster().update(api::config_maps(), changed));
  EXPECT_EQ(error_of(cluster().remove(api::config_maps(), {ns(), "a"},
                                      {.uid = api::uid_of(*created),
                                       .resource_version = api::resource_version_of(*created)})),
            ErrorCode::Conflict);
  EXPECT_TRUE(has("a"));
}

TEST_P(ContractRemove, AFinalizerKeepsTheObjectUntilItIsTakenAway) {
  Value object = config_map("a");
  object["metadata"]["finalizers"] = json::Array{"example.com/hold"};
  must(cluster().create(api::config_maps(), object));
  remove(api::config_maps(), "a");
  const auto held = get(api::config_maps(), "a");
  EXPECT_TRUE(api::is_deleting(*held));
  Value free = *held;
  free["metadata"].object().erase("finalizers");
  must(cluster().update(api::config_maps(), free));
  EXPECT_FALSE(has("a"));
}

TEST_P(ContractRemove, ADeletingObjectTakesNoNewFinalizer) {
  Value object = config_map("a");
  object["metadata"]["finalizers"] = json::Array{"example.com/hold"};
  must(cluster().create(api::config_maps(), object));
  remove(api::config_maps(), "a");
  Value more = *get(api::config_maps(), "a");
  more["metadata"]["finalizers"].array().emplace_back("example.com/more");
  EXPECT_EQ(error_of(cluster().update(api::config_maps(), more)), ErrorCode::Invalid);
  EXPECT_TRUE(blames("metadata.finalizers"));
  more["metadata"].object().erase("finalizers");
  must(cluster().update(api::config_maps(), more));
}

TEST_P(ContractRemove, ADeletionWithFinalizersIsSeenAsAChangeThenAsAnEnd) {
  Value object = service("a");
  object["metadata"]["finalizers"] = json::Array{"example.com/hold"};
  must(cluster().create(api::services(), object));
  const auto watch = watch_from_now(api::services());
  remove(api::services(), "a");
  const auto first = next(*watch);
  EXPECT_EQ(first.type, EventType::Modified);
  EXPECT_TRUE(api::is_deleting(*first.object));
  Value free = *first.object;
  free["metadata"].object().erase("finalizers");
  must(cluster().update(api::services(), free));
  EXPECT_EQ(next(*watch).type, EventType::Deleted);
}

TEST_P(ContractRemove, APodWithoutANodeGoesAtOnce) {
  create_pod("p");
  remove(api::pods(), "p");
  EXPECT_FALSE(exists(api::pods(), {ns(), "p"}));
}

TEST_P(ContractRemove, APodOnANodeHasItsGrace) {
  const auto bound = create_bound_pod("p");
  const auto leaving = remove(api::pods(), "p", {.uid = api::uid_of(*bound)});
  EXPECT_TRUE(api::is_deleting(*leaving));
  EXPECT_EQ((*leaving)["metadata"]["deletionGracePeriodSeconds"], Value(30));
  EXPECT_TRUE(api::is_deleting(*get(api::pods(), "p")));
  remove(api::pods(), "p", {.uid = api::uid_of(*bound), .grace_seconds = 0});  // what its node does
  EXPECT_FALSE(exists(api::pods(), {ns(), "p"}));
}

TEST_P(ContractRemove, TheGraceCanOnlyBecomeShorter) {
  create_bound_pod("p");
  remove(api::pods(), "p", {.grace_seconds = 20});
  const auto longer = remove(api::pods(), "p", {.grace_seconds = 60});
  EXPECT_EQ((*longer)["metadata"]["deletionGracePeriodSeconds"], Value(20));
  const auto shorter = remove(api::pods(), "p", {.grace_seconds = 5});
  EXPECT_EQ((*shorter)["metadata"]["deletionGracePeriodSeconds"], Value(5));
  remove(api::pods(), "p", {.grace_seconds = 0});
}

TEST_P(ContractRemove, AFinishedPodNeedsNoGrace) {
  Value done = *create_bound_pod("p");
  done["status"]["phase"] = "Succeeded";
  must(cluster().update_status(api::pods(), done));
  remove(api::pods(), "p");
  EXPECT_FALSE(exists(api::pods(), {ns(), "p"}));
}

TEST_P(ContractRemove, WhatIsOwnedGoesAfterItsOwner) {
  const auto owner = create_config_map("owner");
  must(cluster().create(api::config_maps(), owned("child", owner)));
  create_config_map("stranger");
  remove(api::config_maps(), "owner");
  EXPECT_FALSE(has("owner"));
  EXPECT_TRUE(eventually([&] { return !has("child"); }));
  EXPECT_TRUE(has("stranger"));
}

TEST_P(ContractRemove, AnOwnerOfTheSameNameIsNotTheOwner) {
  const auto owner = create_config_map("owner");
  const Value child = owned("child", owner);
  remove(api::config_maps(), "owner");
  create_config_map("owner");
  must(cluster().create(api::config_maps(), child));
  EXPECT_TRUE(eventually([&] { return !has("child"); }));
  EXPECT_TRUE(has("owner"));
}

TEST_P(ContractRemove, OrphansStayWithoutTheirOwner) {
  const auto owner = create_config_map("owner");
  must(cluster().create(api::config_maps(), owned("child", owner)));
  must(cluster().remove(api::config_maps(), {ns(), "owner"}, {.propagation = Propagation::Orphan}));
  EXPECT_TRUE(eventually([&] { return !has("owner"); }));
  EXPECT_TRUE(
      eventually([&] { return api::owners_of(*get(api::config_maps(), "child")).empty(); }));
}

TEST_P(ContractRemove, ForegroundRemovesTheOwnerLast) {
  const auto owner = create_config_map("owner");
  Value child = owned("child", owner);
  child["metadata"]["finalizers"] = json::Array{"example.com/hold"};
  must(cluster().create(api::config_maps(), child));
  must(cluster().remove(api::config_maps(), {ns(), "owner"},
                        {.propagation = Propagation::Foreground}));
  ASSERT_TRUE(eventually([&] { return api::is_deleting(*get(api::config_maps(), "child")); }));
  EXPECT_TRUE(has("owner"));
  Value free = *get(api::config_maps(), "child");
  free["metadata"].object().erase("finalizers");
  must(cluster().update(api::config_maps(), free));
  EXPECT_TRUE(eventually([&] { return !has("owner"); }));
}

TEST_P(ContractRemove, ANamespaceTakesItsContentWithIt) {
  Value object;
  object["metadata"]["name"] = unique("contract-gone");
  const std::string other = api::name_of(*must(cluster().create(api::namespaces(), object)));
  Value inside = config_map("inside");
  inside["metadata"]["namespace"] = other;
  must(cluster().create(api::config_maps(), inside));
  must(cluster().remove(api::namespaces(), {"", other}, {}));
  EXPECT_TRUE(eventually([&] { return !exists(api::namespaces(), {"", other}); }, 60s));
  EXPECT_FALSE(exists(api::config_maps(), {other, "inside"}));
}

}  // namespace
}  // namespace muster::contract
