#include "cli/fields/field_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fields_fixture.h"
#include "json/write.h"

namespace muster::cli {
namespace {

std::string ends(std::string_view path, std::string_view object = kJob) {
  const auto parsed = FieldPath::parse(path);
  if (!parsed) return parsed.error().message;
  const auto value = parse(object);
  const auto end = where_it_ends(*parsed, schema_of(value), value);
  return end ? end->path + (end->meant.empty() ? "" : " → " + end->meant) : "";
}

std::string set(std::string_view path, json::Value value, std::string_view object) {
  auto changed = parse(object);
  const auto parsed = FieldPath::parse(path);
  EXPECT_TRUE(parsed) << parsed.error().message;
  const auto done = set_field(*parsed, std::move(value), changed);
  return done ? json::write(changed) : done.error().message;
}

TEST(FieldPath, IsWrittenWithDotsAndBrackets) {
  const auto path = FieldPath::parse("spec.containers[12].env[3].labels[example.org/a.b]");
  ASSERT_TRUE(path);
  EXPECT_EQ(path->steps, (std::vector<FieldStep>{"spec", "containers", std::size_t{12}, "env",
                                                 std::size_t{3}, "labels", "example.org/a.b"}));
  for (const auto* bad : {"", ".", "a.", ".a", "a..b", "[0]", "a[", "a[]", "a[0]b", "a.[0]"}) {
    EXPECT_FALSE(FieldPath::parse(bad)) << bad;
  }
}

TEST(FieldPath, IsNotDeeperThanAnyObject) {
  std::string deep = "a";
  for (int i = 1; i < 64; ++i) deep += "[b]";
  EXPECT_TRUE(FieldPath::parse(deep));
  EXPECT_FALSE(FieldPath::parse(deep + "[b]"));
}

TEST(FieldPath, EndsWhereTheKindHasNoSuchField) {
  EXPECT_EQ(ends("spec.msReplicaSpecs.Worker.replicas"), "");
  EXPECT_EQ(ends("spec.runPolicy.schedulingPolicy.queue"), "") << "it may be absent yet";
  EXPECT_EQ(ends("spec.runPolicy.backofLimit"), "spec.runPolicy.backofLimit → backoffLimit");
  EXPECT_EQ(ends("spec.msReplicaSpecs.Wroker.replicas"), "spec.msReplicaSpecs.Wroker → Worker")
      << "a role that this job does not have";
  EXPECT_EQ(ends("metadata.labels.new"), "");
  EXPECT_EQ(ends("spec.msReplicaSpecs.Worker.template.spec.containers[0].image"), "");
  EXPECT_EQ(ends("spec.msReplicaSpecs.Worker.template.spec.containers[0].imgae"),
            "spec.msReplicaSpecs.Worker.template.spec.containers[0].imgae → image");
  EXPECT_EQ(ends("spec.msReplicaSpecs.Worker.template.spec.containers[1].image"),
            "spec.msReplicaSpecs.Worker.template.spec.containers[1]");
  EXPECT_EQ(ends("spec.msReplicaSpecs[0]"), "spec.msReplicaSpecs[0]") << "no list";
}

TEST(FieldPath, SetsMakesAndRemoves) {
  EXPECT_EQ(set("a.b", 8, "{a: {b: 1, c: 2}}"), R"({"a":{"b":8,"c":2}})");
  EXPECT_EQ(set("a.b.c", "x", "{a: {}}"), R"({"a":{"b":{"c":"x"}}})");
  EXPECT_EQ(set("a[1].b", true, "{a: [{}, {b: false}]}"), R"({"a":[{},{"b":true}]})");
  EXPECT_EQ(set("a[1]", "y", "{a: [x]}"), R"({"a":["x","y"]})") << "just behind the end";
  EXPECT_EQ(set("a[2]", "y", "{a: [x]}"), "a[2]: there is no [2]; the list has 1 elements");
  EXPECT_EQ(set("a.b", nullptr, "{a: {b: 1, c: 2}}"), R"({"a":{"c":2}})");
  EXPECT_EQ(set("a[0]", nullptr, "{a: [x, z]}"), R"({"a":["z"]})");
  EXPECT_EQ(set("a.b", 1, "{a: text}"), "a.b: b is looked for in a string");
  EXPECT_EQ(set("a[0]", 1, "{a: text}"), "a[0]: [0] is looked for in a string");
}

}  // namespace
}  // namespace muster::cli
