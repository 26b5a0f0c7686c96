#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "campaign.h"
#include "mutants.h"

namespace muster::simulation {
namespace {

class Zoo : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Specimen specimen_ = zoo()[GetParam()];
};

// Runs the mutant where it should be found; the reference is the controller without the bug.
std::vector<std::string> hunt(const Specimen& specimen) {
  const Workload& story = workload(specimen.workload);
  const RunResult reference = simulate(story, {});
  if (specimen.fault != Fault::Kind::None) {
    return strike_everywhere(story, reference, specimen.fault,
                             {.mutant = &specimen.mutant, .invariant = specimen.invariant})
        .violations;
  }
  if (!specimen.beside.empty()) {
    const std::vector<const Workload*> two = {&story, &workload(specimen.beside)};
    return simulate(two, {.mutant = &specimen.mutant}).violations;
  }
  return judge(story, reference, simulate(story, {.mutant = &specimen.mutant}), {});
}

TEST_P(Zoo, TheMutantDies) {
  const std::vector<std::string> found = hunt(specimen_);
  ASSERT_FALSE(found.empty()) << specimen_.mutant.name << " survived";
  EXPECT_TRUE(breaks(found, specimen_.invariant))
      << specimen_.mutant.name << " did not break " << specimen_.invariant << ", but:\n"
      << join(found, "\n");
  fmt::print("{} dies: {}\n", specimen_.mutant.name, found.front().substr(0, 160));
}

TEST(ZooOfMutants, IsLargeEnough) {
  std::set<std::string> names;
  for (const Specimen& specimen : zoo()) names.insert(specimen.mutant.name);
  EXPECT_EQ(names.size(), zoo().size()) << "two have the same name";
  EXPECT_GE(names.size(), 30U);
}

// Where nothing is wrong, nothing is found beside either.
TEST(ZooOfMutants, TheControllerItselfIsNone) {
  for (const Specimen& specimen : zoo()) {
    if (specimen.beside.empty()) continue;
    const std::vector<const Workload*> two = {&workload(specimen.workload),
                                              &workload(specimen.beside)};
    EXPECT_EQ(join(simulate(two, {}).violations, "\n"), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Mutants, Zoo, ::testing::Range<std::size_t>(0, zoo().size()),
                         [](const auto& tested) {
                           std::string name = zoo()[tested.param].mutant.name;
                           std::erase_if(name, [](char c) {
                             return std::isalnum(static_cast<unsigned char>(c)) == 0;
                           });
                           return name;
                         });

}  // namespace
}  // namespace muster::simulation
