// Good manifests and their plans, side by side in tests/cases/msjob: NAME.yaml and
// NAME.expected.yaml.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "json/write.h"
#include "plan_text.h"
#include "support.h"
#include "yaml/yaml.h"

namespace muster::dialects::test {
namespace {

std::vector<std::string> cases() {
  std::vector<std::string> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(MUSTER_TEST_DATA) + "/cases/msjob")) {
    const std::string file = entry.path().filename();
    if (!file.ends_with(".yaml") || file.ends_with(".expected.yaml")) continue;
    out.push_back(file.substr(0, file.size() - 5));
  }
  std::ranges::sort(out);
  return out;
}

class PlanCases : public testing::TestWithParam<std::string> {};

TEST_P(PlanCases, CompilesToItsPlan) {
  const auto plan = dialect().compile(read_case("cases/msjob/" + GetParam() + ".yaml"));
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  const auto actual = plan_text(*plan);
  const auto expected = read_case("cases/msjob/" + GetParam() + ".expected.yaml");
  if (actual == expected) return;
  const std::string copy = testing::TempDir() + GetParam() + ".actual.yaml";
  std::ofstream(copy) << yaml::write(actual);
  FAIL() << "the plan differs from the expected one; it is in " << copy;
}

INSTANTIATE_TEST_SUITE_P(MSJob, PlanCases, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace muster::dialects::test
