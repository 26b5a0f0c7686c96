#include "plan/suspend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::plan {
namespace {

using ::testing::HasSubstr;

Identity kind(const std::string& path) {
  Identity identity;
  identity.resource.kind = "TrainJob";
  identity.suspend_path = path;
  return identity;
}

json::Value annotated(const std::string& value) {
  const json::Object annotations{{std::string(kSuspendAnnotation), value}};
  return json::Object{{"metadata", json::Object{{"annotations", annotations}}}};
}

struct AnnotationCase {
  std::string name;
  std::string path;  // of the kind's own field
  json::Value job;
  bool hold;
  std::string warning;
};

TEST(SuspendAnnotation, IsObeyedByKindsWithoutAFieldAndExplainedByOthers) {
  const std::vector<AnnotationCase> cases = {
      {"none", "", json::Object{}, false, ""},
      {"true", "", annotated("true"), true, ""},
      {"false", "", annotated("false"), false, ""},
      {"empty", "", annotated(""), false, ""},
      {"another word", "", annotated("True"), false, "\"True\" is neither"},
      {"a kind with a field", "spec.suspend", annotated("true"), false, "by spec.suspend"},
      {"a kind with a field, false", "spec.suspend", annotated("false"), false, ""},
  };
  for (const AnnotationCase& c : cases) {
    Plan plan;
    plan.run_key = "ranks=2";
    const auto warning = apply_suspend_annotation(kind(c.path), c.job, plan);
    EXPECT_EQ(plan.hold, c.hold) << c.name;
    EXPECT_EQ(plan.run_key, c.hold ? "suspended" : "ranks=2") << c.name;
    EXPECT_EQ(warning.has_value(), !c.warning.empty()) << c.name;
    if (warning) EXPECT_THAT(warning->message, HasSubstr(c.warning)) << c.name;
  }
}

TEST(SetSuspended, WritesWhicheverTheKindHas) {
  json::Value job = json::Object{{"metadata", json::Object{{"name", "bert"}}}};
  const Identity with_field = kind("spec.runMode.pause.enabled");
  const json::Value& field = job["spec"]["runMode"]["pause"]["enabled"];
  EXPECT_EQ(set_suspended(with_field, job, true), true);
  EXPECT_EQ(field, json::Value(true));
  EXPECT_EQ(set_suspended(with_field, job, true), false) << "it says so already";
  EXPECT_EQ(set_suspended(with_field, job, false), true);
  EXPECT_EQ(field, json::Value(false));

  const Identity without = kind("");
  EXPECT_EQ(set_suspended(without, job, false), false) << "nothing to take away";
  EXPECT_EQ(set_suspended(without, job, true), true);
  EXPECT_EQ(set_suspended(without, job, true), false);
  EXPECT_EQ(job["metadata"]["annotations"][kSuspendAnnotation].as_string(), "true");
  EXPECT_EQ(set_suspended(without, job, false), true);
  EXPECT_TRUE(job["metadata"]["annotations"].as_object().empty());
}

TEST(SetSuspended, AFieldThatIsNotThereIsWrittenForAnAliasMaySayOtherwise) {
  json::Value job = json::Object{{"spec", json::Object{{"enable", true}}}};
  EXPECT_EQ(set_suspended(kind("spec.enabled"), job, false), true);
  EXPECT_EQ(job["spec"]["enabled"], json::Value(false));
}

TEST(SetSuspended, AFieldThatCannotBeThereIsAnError) {
  json::Value job = json::Object{{"spec", json::Object{{"runMode", "fast"}}}};
  const auto set = set_suspended(kind("spec.runMode.pause.enabled"), job, true);
  ASSERT_FALSE(set.has_value());
  EXPECT_THAT(set.error().message, HasSubstr("spec.runMode.pause.enabled"));
}

}  // namespace
}  // namespace muster::plan
