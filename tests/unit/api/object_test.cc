#include "api/object.h"

#include <gtest/gtest.h>

#include "api/resource.h"
#include "json/read.h"
#include "json/write.h"

namespace muster::api {
namespace {

json::Value pod() {
  return json::read(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {
      "name": "bert-worker-0", "namespace": "team", "uid": "u1", "resourceVersion": "42",
      "generation": 3, "creationTimestamp": "2026-11-15T03:04:05Z",
      "labels": {"app": "bert"}, "annotations": {"note": "x"},
      "ownerReferences": [
        {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u8"},
        {"apiVersion": "mindspore.gitee.com/v1", "kind": "MSJob", "name": "bert", "uid": "u9",
         "controller": true, "blockOwnerDeletion": true}]},
    "spec": {"containers": [{"name": "main", "image": "a"}, {"name": "side"}]},
    "status": {"conditions": [{"type": "Ready", "status": "False"},
                              {"type": "PodScheduled", "status": "True"}]}})")
      .value();
}

TEST(Object, ReadsMetadata) {
  const json::Value object = pod();
  EXPECT_EQ(name_of(object), "bert-worker-0");
  EXPECT_EQ(namespace_of(object), "team");
  EXPECT_EQ(uid_of(object), "u1");
  EXPECT_EQ(resource_version_of(object), "42");
  EXPECT_EQ(generation_of(object), 3);
  EXPECT_EQ(kind_of(object), "Pod");
  EXPECT_EQ(api_version_of(object), "v1");
  EXPECT_EQ(key_of(object).text(), "team/bert-worker-0");
  EXPECT_EQ(label_of(object, "app"), "bert");
  EXPECT_EQ(annotation_of(object, "note"), "x");
  EXPECT_EQ(creation_time_of(object), parse_time("2026-11-15T03:04:05Z").value());
  EXPECT_FALSE(is_deleting(object));
}

TEST(Object, WhatIsAbsentIsEmpty) {
  const json::Value nothing;
  EXPECT_EQ(name_of(nothing), "");
  EXPECT_EQ(generation_of(nothing), 0);
  EXPECT_EQ(label_of(nothing, "app"), "");
  EXPECT_FALSE(creation_time_of(nothing));
  EXPECT_TRUE(owners_of(nothing).empty());
  EXPECT_TRUE(condition_of(nothing, "Ready").is_null());
  EXPECT_EQ(find_named(nothing, "main"), nullptr);
}

TEST(Object, IsDeletingOnceItHasADeletionTimestamp) {
  json::Value object = pod();
  object.make_path("metadata.deletionTimestamp") = "2026-11-15T03:04:05Z";
  EXPECT_TRUE(is_deleting(object));
}

TEST(Object, ATimeThatIsNoneIsNothing) {
  EXPECT_FALSE(time_at(json::Value("yesterday")));
  EXPECT_FALSE(time_at(json::Value(7)));
  EXPECT_FALSE(time_at(json::Value()));
}

TEST(Object, OwnersSurviveARoundTrip) {
  const json::Value object = pod();
  const auto owners = owners_of(object);
  ASSERT_EQ(owners.size(), 2U);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    EXPECT_EQ(owners[i].to_json(), object["metadata"]["ownerReferences"][i]);
  }
  EXPECT_EQ(controller_uid_of(object), "u9");
}

TEST(Object, AnOwnerThatDoesNotControlIsNoController) {
  json::Value object = pod();
  object["metadata"]["ownerReferences"].array().pop_back();
  EXPECT_EQ(controller_uid_of(object), "");
}

TEST(Object, FindsContainersAndConditions) {
  const json::Value object = pod();
  ASSERT_NE(find_named(object["spec"]["containers"], "side"), nullptr);
  EXPECT_EQ(find_named(object["spec"]["containers"], "none"), nullptr);
  EXPECT_TRUE(condition_is_true(object, "PodScheduled"));
  EXPECT_FALSE(condition_is_true(object, "Ready"));
  EXPECT_EQ(condition_of(object, "Ready")["status"].as_string(), "False");
}

TEST(Object, SplitsApiVersions) {
  EXPECT_EQ(split_api_version("v1").group, "");
  EXPECT_EQ(split_api_version("v1").version, "v1");
  EXPECT_EQ(split_api_version("mindspore.gitee.com/v1").group, "mindspore.gitee.com");
  EXPECT_EQ(split_api_version("mindspore.gitee.com/v1").version, "v1");
}

TEST(Resource, NamesItselfAsTheApiDoes) {
  EXPECT_EQ(pods().api_version(), "v1");
  EXPECT_EQ(pods().qualified(), "pods");
  EXPECT_EQ(leases().api_version(), "coordination.k8s.io/v1");
  EXPECT_EQ(leases().qualified(), "leases.coordination.k8s.io");
  EXPECT_FALSE(nodes().namespaced());
  EXPECT_FALSE(namespaces().namespaced());
  EXPECT_TRUE(config_maps().namespaced());
}

TEST(Resource, IsTheSameInEveryVersion) {
  Resource older = leases();
  older.version = "v1beta1";
  EXPECT_EQ(older, leases());
  EXPECT_NE(pods(), services());
}

TEST(ObjectKey, OfAClusterScopedKindIsTheName) {
  EXPECT_EQ((ObjectKey{.ns = "", .name = "node-1"}).text(), "node-1");
}

}  // namespace
}  // namespace muster::api
