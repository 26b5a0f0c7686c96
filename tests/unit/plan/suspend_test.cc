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
  EXPECT_FALSE(is_suspended(with_field, job));
  EXPECT_TRUE(set_suspended(with_field, job, true).has_value());
  EXPECT_TRUE(job["spec"]["runMode"]["pause"]["enabled"].as_bool());
  EXPECT_TRUE(is_suspended(with_field, job));
  EXPECT_TRUE(set_suspended(with_field, job, false).has_value());
  EXPECT_FALSE(is_suspended(with_field, job));

  const Identity without = kind("");
  EXPECT_TRUE(set_suspended(without, job, false).has_value()) << "nothing to take away";
  EXPECT_TRUE(set_suspended(without, job, true).has_value());
  EXPECT_EQ(job["metadata"]["annotations"][kSuspendAnnotation].as_string(), "true");
  EXPECT_TRUE(is_suspended(without, job));
  EXPECT_TRUE(set_suspended(without, job, false).has_value());
  EXPECT_TRUE(job["metadata"]["annotations"].as_object().empty());
}

TEST(SetSuspended, AFieldThatCannotBeThereIsAnError) {
  json::Value job = json::Object{{"spec", json::Object{{"runMode", "fast"}}}};
  const auto set = set_suspended(kind("spec.runMode.pause.enabled"), job, true);
  ASSERT_FALSE(set.has_value());
  EXPECT_THAT(set.error().message, HasSubstr("spec.runMode.pause.enabled"));
}

}  // namespace
}  // namespace muster::plan
