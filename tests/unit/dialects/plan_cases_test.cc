// Good manifests and their plans, side by side in tests/cases/KIND: NAME.yaml and
// NAME.expected.yaml.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "plan_text.h"
#include "support.h"
#include "yaml/yaml.h"

namespace muster::dialects::test {
namespace {

// "msjob/standalone"
std::vector<std::string> cases() {
  std::vector<std::string> out;
  const std::filesystem::path root = std::string(MUSTER_TEST_DATA) + "/cases";
  for (const auto& folder : std::filesystem::directory_iterator(root)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string file = entry.path().filename();
      if (!file.ends_with(".yaml") || file.ends_with(".expected.yaml")) continue;
      out.push_back(folder.path().filename().string() + "/" + file.substr(0, file.size() - 5));
    }
  }
  std::ranges::sort(out);
  return out;
}

class PlanCases : public testing::TestWithParam<std::string> {};

TEST_P(PlanCases, CompilesToItsPlan) {
  const auto job = read_case("cases/" + GetParam() + ".yaml");
  const auto plan = dialect_of(job).compile(job);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  const auto actual = plan_text(*plan);
  const auto expected = read_case("cases/" + GetParam() + ".expected.yaml");
  if (actual == expected) return;
  std::string name = GetParam();
  std::ranges::replace(name, '/', '.');
  const std::string copy = testing::TempDir() + name + ".actual.yaml";
  std::ofstream(copy) << yaml::write(actual);
  FAIL() << "the plan differs from the expected one; it is in " << copy;
}

INSTANTIATE_TEST_SUITE_P(Kinds, PlanCases, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace_if(name, [](char c) { return c == '-' || c == '/'; }, '_');
  return name;
});

}  // namespace
}  // namespace muster::dialects::test
