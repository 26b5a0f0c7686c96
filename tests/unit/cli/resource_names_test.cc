#include "cli/jobs/resource_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toy_kind.h"

namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ResourceNames : public ::testing::Test {
 protected:
  ResourceNames() {
    for (const auto& [kind, group, version] :
         std::vector<std::array<std::string, 3>>{{"MSJob", "old.dev", "v1"},
                                                 {"MSJob", "new.dev", "v1"},
                                                 {"Sim", "one.dev", "v1"},
                                                 {"Sim", "one.dev", "v2"},
                                                 {"Toy", "toy.dev", "v1"}})
      registry_.add(std::make_unique<ToyKind>(kind, group, version));
  }
  // apiVersion of everything that is meant, or the error.
  std::vector<std::string> meant(const std::string& name) {
    const auto found = resources_named(registry_, name);
    if (!found) return {found.error().message};
    std::vector<std::string> all;
    for (const NamedResource& one : *found) {
      EXPECT_EQ(one.dialect == nullptr, one.resource.group.empty());
      all.push_back(one.resource.api_version() + " " + one.resource.kind);
    }
    return all;
  }
  std::optional<ErrorCode> refusal(const std::string& name) {
    const auto found = resources_named(registry_, name);
    return found ? std::nullopt : std::optional(found.error().code);
  }
  plan::Registry registry_;
};

TEST_F(ResourceNames, EveryJobKind) {
  for (const char* name : {"jobs", "job", "training"}) EXPECT_EQ(meant(name).size(), 5U) << name;
}

TEST_F(ResourceNames, OneKindInAllItsSpellings) {
  for (const char* name :
       {"toys", "toy", "Toy", "TOY", "to", "toys.toy.dev", "toy.toy.dev", "Toy.v1.toy.dev"})
    EXPECT_THAT(meant(name), ElementsAre("toy.dev/v1 Toy")) << name;
}

TEST_F(ResourceNames, TheGroupTellsTwoKindsOfOneNameApart) {
  EXPECT_THAT(meant("msjobs.old.dev"), ElementsAre("old.dev/v1 MSJob"));
  EXPECT_THAT(meant("msjobs.new.dev"), ElementsAre("new.dev/v1 MSJob"));
  EXPECT_THAT(meant("msjob.new.dev"), ElementsAre("new.dev/v1 MSJob"));
}

TEST_F(ResourceNames, TheVersionTellsTwoOfOneGroupApart) {
  EXPECT_THAT(meant("sims.v1.one.dev"), ElementsAre("one.dev/v1 Sim"));
  EXPECT_THAT(meant("sims.v2.one.dev"), ElementsAre("one.dev/v2 Sim"));
}

TEST_F(ResourceNames, AnAmbiguousNameIsAnErrorThatNamesBoth) {
  for (const char* name : {"msjobs", "msjob", "MSJob", "ms"})
    EXPECT_THAT(meant(name), ElementsAre(HasSubstr("msjobs.old.dev or msjobs.new.dev"))) << name;
  for (const char* name : {"sims", "sims.one.dev"})
    EXPECT_THAT(meant(name), ElementsAre(HasSubstr("sims.v1.one.dev or sims.v2.one.dev"))) << name;
  EXPECT_EQ(refusal("msjobs"), ErrorCode::BadRequest);
}

TEST_F(ResourceNames, AnUnknownNameIsAnErrorThatNamesWhatThereIs) {
  for (const char* name :
       {"widgets", "msjobs.other.dev", "toys.v2.toy.dev", "toys.", "", ".toy.dev"}) {
    EXPECT_THAT(meant(name), ElementsAre(AllOf(HasSubstr("no resource"), HasSubstr("toys, pods"),
                                               HasSubstr("msjobs.old.dev, msjobs.new.dev"))))
        << name;
    EXPECT_EQ(refusal(name), ErrorCode::NotFound);
  }
}

TEST_F(ResourceNames, BuiltInKinds) {
  EXPECT_THAT(meant("po"), ElementsAre("v1 Pod"));
  EXPECT_THAT(meant("services"), ElementsAre("v1 Service"));
}

}  // namespace
}  // namespace muster::cli
