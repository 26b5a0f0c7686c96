#include "cli/objects/kind_names.h"

#include "unit/controller/toy_dialect.h"

namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class KindNames : public ::testing::Test {
 protected:
  KindNames() : real_(dialects::make_registry()) {
    add("apples", "Apple", "a.example", "v1");
    add("pears", "Pear", "a.example", "v1");
    add("pears", "Pear", "b.example", "v1");
    add("plums", "Plum", "a.example", "v1");
    add("plums", "Plum", "a.example", "v2");
  }
  void add(const char* plural, const char* kind, const char* group, const char* version) {
    plan::Identity identity = real_.all().front()->identity();
    identity.resource = {.group = group, .version = version, .plural = plural, .kind = kind};
    registry_.add(std::make_unique<controller::ToyDialect>(*real_.all().front(), identity));
  }
  std::string error(const std::vector<std::string>& names) {
    const auto chosen = kinds_named(registry_, names);
    return chosen ? "" : chosen.error().message;
  }
  std::size_t count(const std::vector<std::string>& names) {
    return kinds_named(registry_, names).value().size();
  }

  plan::Registry real_;
  plan::Registry registry_;
};

TEST_F(KindNames, NoNameMeansAll) {
  EXPECT_EQ(count({}), 5U);
}

TEST_F(KindNames, APluralAKindOrBothWithTheGroup) {
  for (const char* name : {"apples", "Apple", "apple", "apples.a.example"}) {
    const auto chosen = kinds_named(registry_, {name}).value();
    ASSERT_THAT(chosen, SizeIs(1)) << name;
    EXPECT_EQ(chosen[0]->identity().resource.plural, "apples");
  }
  EXPECT_EQ(count({"apples", "pears.b.example"}), 2U);
  EXPECT_EQ(count({"apples", "Apple"}), 1U) << "twice the same";
}

TEST_F(KindNames, TwoVersionsOfOneResourceGoTogether) {
  EXPECT_EQ(count({"plums"}), 2U);
}

TEST_F(KindNames, WhatTheClusterRunsItselfIsNotAmongThem) {
  plan::Identity identity = real_.all().front()->identity();
  identity.resource = {.group = "c.example", .version = "v1", .plural = "figs", .kind = "Fig"};
  identity.embedded_only = true;
  registry_.add(std::make_unique<controller::ToyDialect>(*real_.all().front(), identity));
  EXPECT_EQ(count({}), 5U);
  EXPECT_THAT(error({"figs"}), HasSubstr("no kind \"figs\""));
}

TEST_F(KindNames, AnUnknownNameIsToldTheKnownOnes) {
  EXPECT_THAT(
      error({"apples", "melons"}),
      AllOf(HasSubstr("\"melons\""), HasSubstr("apples.a.example"), HasSubstr("pears.b.example")));
}

TEST_F(KindNames, ANameThatTwoGroupsHaveIsAnErrorThatNamesBoth) {
  EXPECT_THAT(error({"pears"}), AllOf(HasSubstr("pears.a.example"), HasSubstr("pears.b.example")));
}

}  // namespace
}  // namespace muster::cli
